FROM python:3.12-slim
WORKDIR /answerable
COPY pyproject.toml constraints.txt README.md LICENSE ./
COPY src src
RUN pip install --no-cache-dir --constraint constraints.txt '.[server,mcp,postgres,qdrant,openai,cohere]' \
    && useradd --create-home answerable && mkdir /data && chown answerable /data
USER answerable
ENTRYPOINT ["answerable"]
