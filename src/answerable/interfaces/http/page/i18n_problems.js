/** The texts of the page for what goes wrong, each with what can be done about it there. */

export const PROBLEMS = {
  errorNothingThere: [
    "There is nothing at this address. Check it, then add it again.",
    "No hay nada en esta dirección. Compruébala y vuelve a añadirla.",
    "Não há nada neste endereço. Confira-o e adicione-o de novo.",
  ],
  errorKind: [
    "Files of this kind can't be read. Save it as PDF, Word, a web page or text, and add that.",
    "Los archivos de este tipo no se pueden leer. Guárdalo como PDF, Word, página web o texto y añade ese archivo.",
    "Arquivos deste tipo não podem ser lidos. Salve-o como PDF, Word, página da web ou texto e adicione esse arquivo.",
  ],
  errorDamaged: [
    "The file is damaged or incomplete. Open it in its own program, save it again, and add the new file.",
    "El archivo está dañado o incompleto. Ábrelo en su programa, guárdalo otra vez y añade el archivo nuevo.",
    "O arquivo está danificado ou incompleto. Abra-o no programa dele, salve-o de novo e adicione o arquivo novo.",
  ],
  errorLocked: [
    "The file is locked with a password. Save a copy without the password, and add that.",
    "El archivo está protegido con contraseña. Guarda una copia sin contraseña y añádela.",
    "O arquivo está protegido por senha. Salve uma cópia sem a senha e adicione-a.",
  ],
  errorNoText: [
    "There is no text in it. If it is a scan, add a copy with recognised text (OCR).",
    "No contiene texto. Si es un escaneo, añade una copia con el texto reconocido (OCR).",
    "Não há texto nele. Se for uma digitalização, adicione uma cópia com o texto reconhecido (OCR).",
  ],
  errorTooLarge: [
    "It is too large. Split it, and add the parts.",
    "Es demasiado grande. Divídelo y añade las partes.",
    "É grande demais. Divida-o e adicione as partes.",
  ],
  errorAddress: [
    "This address may not be read: it is private, or its site doesn't allow it. Give another address, or ask whoever runs the server to allow it.",
    "Esta dirección no se puede leer: es privada o su sitio no lo permite. Da otra dirección o pide a quien administra el servidor que la permita.",
    "Este endereço não pode ser lido: é privado ou o site não permite. Dê outro endereço ou peça a quem administra o servidor que o permita.",
  ],
  errorSite: [
    "The site doesn't answer. Check the address, or try again later.",
    "El sitio no responde. Comprueba la dirección o vuelve a intentarlo más tarde.",
    "O site não responde. Confira o endereço ou tente de novo mais tarde.",
  ],
  errorUnread: [
    "It couldn't be read. Check it, then add it again.",
    "No se pudo leer. Compruébalo y vuelve a añadirlo.",
    "Não foi possível lê-lo. Confira-o e adicione-o de novo.",
  ],
  errorSameName: [
    "Two of these files have the same name. Give one of them another name, then add them again.",
    "Dos de estos archivos tienen el mismo nombre. Cambia el nombre de uno y vuelve a añadirlos.",
    "Dois destes arquivos têm o mesmo nome. Mude o nome de um deles e adicione-os de novo.",
  ],
  errorDisk: [
    "The server's disk is full. Try again when there is room; tell whoever runs it.",
    "El disco del servidor está lleno. Vuelve a intentarlo cuando haya espacio y avisa a quien lo administra.",
    "O disco do servidor está cheio. Tente de novo quando houver espaço e avise quem o administra.",
  ],
  errorGone: [
    "It is no longer there. Reload the page.",
    "Ya no está. Vuelve a cargar la página.",
    "Não está mais lá. Recarregue a página.",
  ],
  errorForbidden: [
    "Your key doesn't allow this. Ask whoever runs the server for one that does.",
    "Tu clave no lo permite. Pide una que lo permita a quien administra el servidor.",
    "Sua chave não permite isso. Peça uma que permita a quem administra o servidor.",
  ],
  errorBusy: [
    "The server is busy. Wait a moment, then try again.",
    "El servidor está ocupado. Espera un momento y vuelve a intentarlo.",
    "O servidor está ocupado. Espere um momento e tente de novo.",
  ],
  errorModel: [
    "The model gave no answer. Try again later; if it stays so, tell whoever runs the server.",
    "El modelo no respondió. Vuelve a intentarlo más tarde; si sigue así, avisa a quien administra el servidor.",
    "O modelo não respondeu. Tente de novo mais tarde; se continuar assim, avise quem administra o servidor.",
  ],
  errorQuotes: [
    "The model couldn't write the answer, so these are quotes. “Why this answer” shows what its server said.",
    "El modelo no pudo escribir la respuesta, así que estas son citas. «Por qué esta respuesta» muestra lo que dijo su servidor.",
    "O modelo não conseguiu escrever a resposta, por isso estas são citações. “Por que esta resposta” mostra o que o servidor dele disse.",
  ],
  errorServer: [
    "The server can't do that as it is set up. Its log says why; tell whoever runs it.",
    "El servidor no puede hacerlo tal como está configurado. Su registro dice por qué; avisa a quien lo administra.",
    "O servidor não pode fazer isso como está configurado. O registro dele diz por quê; avise quem o administra.",
  ],
  errorRequest: [
    "The server can't make sense of this. Reload the page, and try again.",
    "El servidor no entiende esta petición. Vuelve a cargar la página e inténtalo de nuevo.",
    "O servidor não entende este pedido. Recarregue a página e tente de novo.",
  ],
  modelSaid: ["The model's server said", "El servidor del modelo dijo", "O servidor do modelo disse"],
};
