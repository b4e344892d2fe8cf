"""A library of a club's files, for questions whose answers are computed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from reading_here import read_file

import answerable
from answerable import Library

FILES = {
    "gastos.csv": """Fecha;Concepto;Categoría;Importe (EUR);Pagado por
03/01/2024;Cemento;Materiales;120,50;Ana
15/01/2024;Pintura;Materiales;80,00;Luis
20/02/2024;Electricista;Mano de obra;350,00;Ana
02/03/2024;Azulejos;Materiales;410,25;Marta
11/03/2024;Fontanero;Mano de obra;290,00;Luis
""",
    "WhatsApp Chat with Lake house.txt": """12/31/23, 9:15 PM - Ana: happy new year!
1/2/24, 9:15 AM - Ben: <Media omitted>
1/2/24, 9:16 AM - Ben: look at that cat
3/5/24, 10:00 AM - Ana: dinner on friday?
3/5/24, 10:02 AM - Carla: yes!!
3/6/24, 10:02 AM - Carla: <Media omitted>
3/7/24, 8:00 AM - Ben: the cat is back
""",
    "members.md": """# Rowing club

The members of the club:

| Name | City | Fee | Paid |
|---|---|---|---|
| Ana Ruiz | Madrid | 50 EUR | yes |
| Ben Cole | Leeds | 60 EUR | no |
| Carla Dias | Porto | 50 EUR | yes |
| Dan Poe | Leeds | 40 EUR | no |
""",
    "notas.json": """[{"aluno": "Rui", "turma": "8C", "nota": 14.5}, {"aluno": "Inês", "turma": "8C", "nota": 17},
{"aluno": "Tiago", "turma": "8B", "nota": 9}]""",
    "boathouse.txt": "The boathouse opens at seven. The boiler was serviced in May and holds 80 litres of water.\n",
}


@pytest.fixture(scope="package")
def club(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("club")
    for name, content in FILES.items():
        Path(folder / name).write_text(content, "utf-8")
    with answerable.open(":memory:") as library:
        library.now = lambda: datetime(2024, 6, 1, 12)
        library.add_documents(document for path in sorted(folder.iterdir()) for document in read_file(path))
        yield library
