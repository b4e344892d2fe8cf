/** Texts of problems, each with what to do about it on the page. */

export const PROBLEMS = {
  errorNothingThere: [
    "Nothing was found at this address. Check it, then add it again.",
    "No se encontró nada en esta dirección. Compruébala y vuelve a añadirla.",
    "Nada foi encontrado neste endereço. Confira-o e adicione-o de novo.",
  ],
  errorKind: [
    "This type of file isn't supported. Save it as PDF, Word, a web page or text, and add that file.",
    "Este tipo de archivo no se admite. Guárdalo como PDF, Word, página web o texto y añade ese archivo.",
    "Este tipo de arquivo não é aceito. Salve-o como PDF, Word, página da web ou texto e adicione esse arquivo.",
  ],
  errorDamaged: [
    "The file is damaged or incomplete. Open it in its own program, save it again, and add the new file.",
    "El archivo está dañado o incompleto. Ábrelo en su programa, guárdalo de nuevo y añade el archivo nuevo.",
    "O arquivo está danificado ou incompleto. Abra-o no programa original, salve-o de novo e adicione o novo arquivo.",
  ],
  errorLocked: [
    "The file is protected by a password. Save a copy without a password, and add the copy.",
    "El archivo está protegido con contraseña. Guarda una copia sin contraseña y añádela.",
    "O arquivo está protegido por senha. Salve uma cópia sem senha e adicione-a.",
  ],
  errorNoText: [
    "The file contains no text. If it is a scan, add a copy with recognised text (OCR).",
    "El archivo no contiene texto. Si es un escaneo, añade una copia con texto reconocido (OCR).",
    "O arquivo não contém texto. Se for uma digitalização, adicione uma cópia com texto reconhecido (OCR).",
  ],
  errorTooLarge: [
    "The file is too large. Split it and add the parts.",
    "El archivo es demasiado grande. Divídelo y añade las partes.",
    "O arquivo é grande demais. Divida-o e adicione as partes.",
  ],
  errorAddress: [
    "This address can't be used: it is private, or the site forbids it. Enter another address, or ask the server's administrator to allow it.",
    "Esta dirección no se puede usar: es privada o el sitio no lo permite. Escribe otra o pide a quien administra el servidor que la permita.",
    "Este endereço não pode ser usado: é privado ou o site não permite. Informe outro ou peça a quem administra o servidor que o permita.",
  ],
  errorSite: [
    "The site doesn't respond. Check the address, or try again later.",
    "El sitio no responde. Comprueba la dirección o inténtalo más tarde.",
    "O site não responde. Confira o endereço ou tente mais tarde.",
  ],
  errorUnread: [
    "The file or page couldn't be read. Check it, then add it again.",
    "No se pudo leer el archivo o la página. Compruébalo y vuelve a añadirlo.",
    "Não foi possível ler o arquivo ou a página. Confira e adicione de novo.",
  ],
  errorSameName: [
    "Two of these files have the same name. Rename one, then add them again.",
    "Dos de estos archivos tienen el mismo nombre. Cambia el nombre de uno y vuelve a añadirlos.",
    "Dois destes arquivos têm o mesmo nome. Mude o nome de um deles e adicione-os de novo.",
  ],
  errorDisk: [
    "The server's disk is full. Tell its administrator, and try again later.",
    "El disco del servidor está lleno. Avisa a quien lo administra e inténtalo más tarde.",
    "O disco do servidor está cheio. Avise quem o administra e tente mais tarde.",
  ],
  errorGone: [
    "This is no longer here. Reload the page.",
    "Esto ya no está aquí. Vuelve a cargar la página.",
    "Isto não está mais aqui. Recarregue a página.",
  ],
  errorForbidden: [
    "Your key doesn't allow this. Ask the server's administrator for another key.",
    "Tu clave no permite hacer esto. Pide otra a quien administra el servidor.",
    "Sua chave não permite isso. Peça outra a quem administra o servidor.",
  ],
  errorBusy: [
    "The server is busy. Wait a moment, then try again.",
    "El servidor está ocupado. Espera un momento e inténtalo de nuevo.",
    "O servidor está ocupado. Espere um momento e tente de novo.",
  ],
  errorModel: [
    "The model didn't answer. Try again later; if this continues, tell the server's administrator.",
    "El modelo no respondió. Inténtalo más tarde; si el problema sigue, avisa a quien administra el servidor.",
    "O modelo não respondeu. Tente mais tarde; se o problema continuar, avise quem administra o servidor.",
  ],
  errorModelGone: [
    "The model's server can't be reached. Check that it is running and connected, then ask again.",
    "No se puede conectar con el servidor del modelo. Comprueba que esté en marcha y conectado, y vuelve a preguntar.",
    "Não foi possível conectar ao servidor do modelo. Verifique se ele está ligado e conectado e pergunte de novo.",
  ],
  errorModelKey: [
    "The model's server didn't accept the key. Ask the administrator to check it.",
    "El servidor del modelo no aceptó la clave. Pide a quien administra que la revise.",
    "O servidor do modelo não aceitou a chave. Peça a quem administra que a confira.",
  ],
  errorModelUnknown: [
    "The model's server doesn't have this model. Choose another, or ask the administrator to.",
    "El servidor del modelo no tiene este modelo. Elige otro o pide a quien administra que lo cambie.",
    "O servidor do modelo não tem este modelo. Escolha outro ou peça a quem administra que o troque.",
  ],
  errorModelRequest: [
    "The model didn't accept this question. Ask it in other words, or shorter.",
    "El modelo no aceptó esta pregunta. Hazla con otras palabras o más corta.",
    "O modelo não aceitou esta pergunta. Pergunte com outras palavras ou mais curto.",
  ],
  errorCut: [
    "The answer may be cut off. Ask for less at once.",
    "La respuesta puede estar cortada. Pide menos de una vez.",
    "A resposta pode estar cortada. Peça menos de uma vez.",
  ],
  errorQuotes: [
    "The model couldn't write the answer, so these are quotes.",
    "El modelo no pudo escribir la respuesta; estas son citas.",
    "O modelo não conseguiu escrever a resposta; estas são citações.",
  ],
  errorPhoto: [
    "This server doesn't read this kind of photograph. Save it as JPEG, and add that file.",
    "Este servidor no lee este tipo de fotografía. Guárdala como JPEG y añade ese archivo.",
    "Este servidor não lê esse tipo de fotografia. Salve-a como JPEG e adicione esse arquivo.",
  ],
  errorMore: [
    "This server reads no pictures or recordings. Add their text, or ask the administrator to turn reading on.",
    "Este servidor no lee imágenes ni grabaciones. Añade su texto o pide a quien administra que active la lectura.",
    "Este servidor não lê imagens nem gravações. Adicione o texto ou peça a quem administra que ative a leitura.",
  ],
  errorUnknown: [
    "This didn't work. Reload the page and try again; if it happens again, tell the administrator.",
    "Algo falló. Recarga la página e inténtalo de nuevo; si se repite, avisa a quien administra.",
    "Algo falhou. Recarregue a página e tente de novo; se acontecer outra vez, avise quem administra.",
  ],
  errorServer: [
    "The server isn't set up to do this. Tell its administrator; the reason is in its log.",
    "El servidor no está configurado para esto. Avisa a quien lo administra; el motivo está en su registro.",
    "O servidor não está configurado para isso. Avise quem o administra; o motivo está no registro dele.",
  ],
  errorRequest: [
    "The server didn't accept this request. Reload the page and try again.",
    "El servidor no aceptó la petición. Vuelve a cargar la página e inténtalo de nuevo.",
    "O servidor não aceitou o pedido. Recarregue a página e tente de novo.",
  ],
};
