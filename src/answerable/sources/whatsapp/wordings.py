"""What WhatsApp itself writes into an export, language by language.

The sentences are those of the app as seen in exports; a language may have several, for the app changes them.
They are compared in the form that `plain` gives them: no marks, lower case, no full stop. No list is complete, which
is why `whatsapp_bodies` looks at the shape of a text first.
"""

from __future__ import annotations

import re

_JOINERS = "\u200c\u200d"
_MARKS = re.compile("[\u061c\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
_MARKS_AND_JOINERS = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]+")
_CURLY = re.compile("[’‘ʻʼ`]")
_AROUND = " .。।!"


def without_marks(text: str) -> str:
    """The text without invisible marks of direction. Joiners stay but at its ends: 👩‍💻 and Persian words have them."""
    return text if text.isascii() else _MARKS.sub("", text).strip(_JOINERS)


def plain(text: str) -> str:
    """The form in which wordings are compared."""
    if not text.isascii():
        text = _CURLY.sub("'", _MARKS_AND_JOINERS.sub("", text))
    return " ".join(text.casefold().split()).strip(_AROUND)


def _wordings(lines: str) -> frozenset[str]:
    """The sentences of a table with one language a line, `xx: one | another`."""
    sentences = (sentence for line in lines.strip().splitlines() for sentence in line.split(":", 1)[1].split("|"))
    return frozenset(plain(sentence) for sentence in sentences)


OMITTED_MEDIA = _wordings("""
    af: Media weggelaat
    ar: تم استبعاد الوسائط | تم حذف الوسائط | الوسائط مستبعدة
    az: Media buraxıldı | Media çıxarılmışdır
    bg: Без файл | Без мултимедия | Мултимедията е пропусната
    bn: মিডিয়া বাদ দেওয়া হয়েছে | মিডিয়া বাদ দেওয়া হয়েছে
    ca: Fitxers multimèdia omesos | Mitjans omesos | Multimèdia omesa
    cs: Média vynechány | Média vynechána | Média byla vynechána
    da: Medier udeladt | Mediefil udeladt | Medier er udeladt
    de: Medien ausgeschlossen | Medien weggelassen | Medien ausgelassen
    el: Αρχείο παραλήφθηκε | Εξαίρεση πολυμέσων | Τα πολυμέσα παραλείφθηκαν
    en: Media omitted | Image omitted | Video omitted | Audio omitted | View once message omitted
    en: View once voice message omitted | Video note omitted
    es: Multimedia omitido | Archivo omitido | Archivo multimedia omitido | Medios omitidos
    es: Contenido multimedia omitido
    es: Nota de video omitida | Mensaje de visualización única omitido
    et: Meedia välja jäetud | Meedia ära jäetud
    fa: رسانه حذف شد | پيوست نما/آهنگ حذف شد
    fi: Media jätettiin pois | Media jätetty pois
    fr: Médias omis | Média omis | Fichier omis | Fichier média omis | Médias absents | Note vidéo omise
    gu: મિડિયા છોડી મૂકાયું | મીડિયા અવગણવામાં આવ્યા | મીડિયા અવગણાયું
    he: המדיה לא נכללה | מדיה הושמטה | המדיה הושמטה
    hi: मीडिया के बिना | मीडिया छोड़ा गया | मीडिया हटाया गया | मीडिया शामिल नहीं है
    hr: Medijski zapis izostavljen | Mediji izostavljeni
    hu: Média elhagyva | Hiányzó médiafájl | Média kihagyva
    hy: Մեդիան բաց է թողնված
    id: Media tidak disertakan | Media dihilangkan
    it: Media omessi | Media omesso | File multimediale omesso | Nota video omessa
    ja: メディアなし | メディアは含まれていません | メディアを省略 | メディアが省略されました
    ka: მედია გამოტოვებულია
    kk: Файлдар қосылмаған | Файл қосылған жоқ
    kn: ಮಾಧ್ಯಮ ಕೈಬಿಡಲಾಗಿದೆ | ಮೀಡಿಯಾ ಕೈಬಿಡಲಾಗಿದೆ
    ko: 미디어 파일 제외됨 | 미디어 파일을 생략한 대화내용 | 미디어 파일을 생략함 | 미디어 생략됨
    lo: ບໍ່ລວມມີເດຍ
    lt: Medija praleista | Praleistas medijos turinys
    lv: Nav iekļauta multivide | Bez multivides
    mk: Без фајлови | Без фајл
    ml: മീഡിയ ഒഴിവാക്കി
    mr: मीडिया वगळण्यात आला | मीडिया वगळले
    ms: Media dikecualikan | Media disingkirkan
    nb: Media utelatt | Uten vedlegg | Medier utelatt | Utelatt media
    nl: Media weggelaten | Mediabestand weggelaten
    pa: ਮੀਡੀਆ ਛੱਡਿਆ | ਮੀਡੀਆ ਛਡਿਆ ਗਿਆ | ਮੀਡੀਆ ਛੱਡਿਆ ਗਿਆ
    pl: Pominięto multimedia | Pliki pominięto | Multimedia pominięte | Pominięto plik
    pt: Mídia omitida | Mídia oculta | Arquivo de mídia oculto | Ficheiro não revelado | Ficheiro multimédia omitido
    pt: Ficheiro oculto | Arquivo oculto | Arquivo de mídia omitido | Nota de vídeo omitida | Multimédia omitido
    ro: Conținut media omis | Fișier media omis | Media omisă
    ru: Без медиафайлов | Файл пропущен | Медиафайл пропущен | Медиафайлы пропущены
    sk: Médiá vynechané | Médiá boli vynechané
    sl: Datoteke izpuščene | Medij izpuščen
    sq: Media u hoq | Media hequr
    sr: медији су изостављени | Mediji su izostavljeni
    sv: Media utelämnat | Media har utelämnats | Media utelämnad | Mediefil utelämnad
    sw: Media hazijajumuishwa | Media imerukwa
    ta: கோப்புகள் விடப்பட்டன | ஊடகங்கள் நீக்கப்பட்டது | மீடியா விடுபட்டது
    te: మీడియా విస్మరించబడింది | మాధ్యమం విస్మరించబడింది
    th: ไฟล์สื่อถูกลบ | สื่อถูกลบ | ไม่รวมสื่อ
    tl: Inalis ang media | Walang kalakip na media
    tr: Medya dahil edilmedi | Medya atlanmış | Medya atlandı | Medya eklenmedi
    uk: Медіа пропущено | Без медіафайлів | Пропущено медіафайл
    ur: میڈیا چھوڑ دیا گیا | میڈیا ہٹا دیا گیا
    uz: Fayl o'tkazib yuborildi
    vi: Bỏ qua tệp phương tiện | Bỏ qua Media | Đã bỏ qua media
    zh: 忽略多媒體檔 | 省略多媒体文件 | 已省略媒体文件 | 略去多媒體檔案 | 已省略媒體 | 省略媒體檔案
    zh: 媒体文件已省略 | 影音内容已略去 | 多媒体已省略
""")

# iPhones name the kind of media and use no brackets: every kind with every form of "omitted" of its language.
_OMITTED_KINDS = """
    ca: imatge,vídeo,àudio,adhesiu,GIF,document,targeta de contacte / omesa,omès
    cs: obrázek,video,audio,zvukový soubor,nálepka,GIF,dokument,vizitka / vynechán,vynecháno,vynechána
    da: billede,video,lyd,klistermærke,GIF,dokument,kontaktkort / udeladt
    de: Bild,Video,Audio,Sticker,GIF,Dokument,Kontaktkarte,Videonachricht / weggelassen,ausgelassen
    el: εικόνα,βίντεο,ήχος,αυτοκόλλητο,GIF,έγγραφο,κάρτα επαφής,η κάρτα επαφής / παραλείφθηκε,παραλήφθηκε
    en: image,photo,video,audio,sticker,GIF,document,Contact card,video note,voice message / omitted
    es: imagen,foto,video,vídeo,audio,sticker,GIF,documento,Tarjeta de contacto,mensaje de video / omitida,omitido
    fr: image,vidéo,audio,sticker / absente,absent,omise,omis,manquante,manquant,retiré
    fr: GIF,document,Fiche contact,carte de contact / absente,absent,omise,omis,manquante,manquant,retiré
    hr: slika,video,zvuk,naljepnica,GIF,dokument,posjetnica / izostavljen,izostavljena
    hu: kép,videó,hang,matrica,GIF,dokumentum,névjegykártya / kihagyva
    id: gambar,foto,video,audio,stiker,GIF,dokumen,kartu kontak / tidak disertakan
    it: immagine,video,audio / omessa,omesso,esclusa,escluso,non incluso,non inclusa
    it: sticker,GIF,documento,Scheda contatto / omessa,omesso,esclusa,escluso,non incluso,non inclusa
    ms: imej,video,audio,pelekat,GIF,dokumen,kad kenalan / tidak dimasukkan,tidak disertakan
    nb: bilde,video,lyd,klistremerke,GIF,dokument,kontaktkort / utelatt,sløyfet,ikke inkludert
    nl: afbeelding,foto,video,audio,sticker,GIF,document,visitekaartje,contactkaart,videobericht / weggelaten
    pl: obraz,zdjęcie,wideo,film,audio / pominięty,pominięte,pominięta,pominięto
    pl: dźwięk,naklejka,GIF,dokument,karta kontaktu / pominięty,pominięte,pominięta,pominięto
    pt: imagem,foto,vídeo / ocultada,ocultado,oculta,oculto,omitida,omitido,não revelada,não revelado
    pt: áudio,figurinha,sticker / ocultada,ocultado,oculta,oculto,omitida,omitido,não revelada,não revelado
    pt: autocolante,GIF,documento / ocultada,ocultado,oculta,oculto,omitida,omitido,não revelada,não revelado
    pt: Cartão do contato,Contacto,contato / ocultada,ocultado,oculta,oculto,omitida,omitido,não revelada,não revelado
    ro: imagine,video,clip video,audio,sticker,GIF,document,carte de vizită contact / omisă,omis
    ru: изображение,видео,аудио,аудиофайл / отсутствует,пропущено,пропущен,не добавлен,опущено
    ru: стикер,GIF,документ,карточка контакта,видеосообщение / отсутствует,пропущено,пропущен,не добавлен,опущено
    sk: obrázok,video,zvuk,nálepka,GIF,dokument,karta kontaktu / vynechaný,vynechané,vynechaná
    sv: bild,video,ljud,dekal,sticker,GIF,dokument,kontaktkort / utesluten,utelämnad,uteslutet,utelslutet,utelämnat
    tr: görüntü,resim,video,ses,çıkartma,GIF,belge,kişi kartı / dahil edilmedi,atlandı
    uk: зображення,відео,аудіо,стікер / відсутнє,пропущено,відсутня,не додано,відсутній
    uk: наклейку,GIF,документ,картка контакту / відсутнє,пропущено,відсутня,не додано,відсутній
"""


def _combinations(lines: str) -> frozenset[str]:
    result = set()
    for line in lines.strip().splitlines():
        kinds, forms = line.split(":", 1)[1].split("/")
        result |= {plain(f"{kind} {form.strip()}") for kind in kinds.split(",") for form in forms.split(",")}
    return frozenset(result)


OMITTED_KIND = _combinations(_OMITTED_KINDS) | _wordings("""
    ar: لم يتم إدراج الصورة | لم يتم إدراج الفيديوهات | لم يتم إدراج الفيديو | لم يتم إدراج المقاطع الصوتية
    ar: تم حذف الملصقات
    ar: لم يتم إدراج الملصق | لم يتم إدراج صورة GIF | لم يتم إدراج بطاقة جهة اتصال | لم يتم إدراج المستند
    ar: تم حذف الصورة
    ar: الصورة محذوفة | الفيديو محذوف | لم يتم إدراج المقطع الصوتي
    bn: ইমেজ বাদ দেওয়া হয়েছে | ভিডিও বাদ দেওয়া হয়েছে | অডিও বাদ দেওয়া হয়েছে | স্টিকার বাদ দেওয়া হয়েছে
    bn: ডকুমেন্ট বাদ দেওয়া হয়েছে
    bn: জিআইএফ বাদ দেওয়া হয়েছে | পরিচিতির কার্ড বাদ দেওয়া হয়েছে
    el: Παράληψη GIF
    fa: تصویر حذف شد | ویدیو حذف شد | صدا حذف شد | استیکر حذف شد | GIF حذف شد | برگ مخاطب حذف شد | سند حذف شد
    fi: kuva jätetty pois | ei kuvaa | videota ei sisällytetä | video jätetty pois | äänitiedostoa ei sisällytetä
    fi: ääni jätetty pois | tarraa ei sisällytetty | tarra jätetty pois | GIF-animaatio jätetty pois
    fi: GIF jätetty pois
    fi: dokumenttia ei sisällytetä | asiakirja jätetty pois | Yhteystietokortti jätettiin pois
    gu: છબી પડતી મૂકાઈ | વિડિયો પડતી મુકાઈ | ઓડિયો ફાઇલ શામેલ કરી નથી | સ્ટીકર પડતું મુકાયું
    gu: ડોક્યુમેન્ટ સામેલ કર્યું નહિ
    he: התמונה הושמטה | סרטון הווידאו הושמט | הסרטון הושמט | קטע קול הושמט | השמע הושמט | סטיקר הושמט | הסטיקר הושמט
    he: GIF הושמט | כרטיס איש קשר הושמט | מסמך הושמט | המסמך הושמט
    hi: फ़ोटो हटाई गई | वीडियो छोड़ा गया | ऑडियो हटाई गयी | ऑडियो छोड़ा गया | स्टिकर छोड़ा गया | GIF छोड़ा गया
    hi: चित्र छोड़ा गया
    hi: कॉन्टैक्ट कार्ड छोड़ा गया | डॉक्यूमेंट छोड़ा गया | इमेज छोड़ी गई | छवि छोड़ी गई | फ़ोटो छोड़ी गई
    hi: दस्तावेज़ छोड़ा गया
    hu: kép küldése sikertelen | Hang kihagyása | GIF fájl kihagyása
    ja: 画像は省略されました | 画像は含まれていません | ビデオは含まれていません | 動画は省略されました
    ja: ビデオは省略されました | 音声は含まれていません
    ja: 音声は省略されました | オーディオは省略されました | スタンプは含まれていません
    ja: ステッカーは省略されました | スタンプは省略されました
    ja: GIFは含まれていません | GIFは省略されました | 連絡先カードを省略 | 連絡先カードは省略されました
    ja: ドキュメントは含まれていません
    ja: ドキュメントは省略されました | 書類は省略されました
    ko: 이미지 생략됨 | 사진 생략됨 | 비디오 생략됨 | 동영상 생략됨 | 오디오 생략됨 | 음성 생략됨 | 스티커 제외됨
    ko: 스티커 생략됨 | GIF 생략됨
    ko: 연락처 카드 생략됨 | 문서 생략됨 | GIF 제외됨
    mr: इमेज वगळली | व्हिडीओ वगळला | ऑडिओ वगळला | स्टिकर वगळले | GIF वगळले | संपर्क कार्ड वगळले | डॉक्युमेंट वगळले
    nb: utelatt dokument
    pl: pominięto naklejkę | Plik GIF pominięty | Pominięta wizytówka kontaktu | pominięto obraz | pominięto wideo
    pt: ficheiro de áudio não revelado
    ro: fără audio
    th: ไม่มีรูปภาพ | วิดีโอถูกลบ | ไม่มีไฟล์เสียง | ไม่มีสติกเกอร์ | ละเว้น GIF | บัตรรายชื่อที่ละเว้น | ละเว้นเอกสาร
    uk: GIF-анімацію пропущено
    ur: تصویر نکال دی گئی ہے | ویڈیو نظرانداز | آڈیو نظرانداز | اسٹیکر نظرانداز | GIF نظرانداز
    ur: رابطہ کارڈ نظر انداز | دستاویز نظرانداز
    vi: đã bỏ qua hình ảnh | đã bỏ video | bỏ qua tệp âm thanh | đã bỏ sticker | Đã bỏ qua ảnh GIF
    vi: Bỏ qua thẻ liên lạc | đã bỏ qua tài liệu
    zh: 圖片已略去 | 圖片已省略 | 图片已省略 | 图像已忽略 | 圖像已省略 | 照片已忽略 | 影片已略去 | 影片已省略
    zh: 视频已忽略 | 视频已省略 | 音訊已略去
    zh: 音訊已省略 | 音频已忽略 | 音频已省略 | 貼圖已略去 | 貼圖已忽略 | 贴图已省略 | 貼圖已省略 | 贴图已忽略
    zh: 表情已省略 | GIF 已略去 | GIF 圖片已被省略
    zh: GIF 动态图已被忽略 | GIF 已省略 | GIF已省略 | 聯絡人卡片已略去 | 聯絡人卡片已省略 | 联系人卡片已忽略
    zh: 联系人名片已省略 | 文件已略去 | 文件已忽略
    zh: 文档已省略 | 文件已省略 | 文檔已省略
""")

DELETED = _wordings("""
    af: Hierdie boodskap was uitgevee | Hierdie boodskap is geskrap | Jy het boodskap uitgevee
    ar: تم حذف هذه الرسالة | لقد حذفت هذه الرسالة | لقد حذَفت هذه الرسالة | أنت حذفت هذه الرسالة | حذفت هذه الرسالة
    az: Bu ismarıc silindi | Bu mesaj silinib | Siz bu ismarıcı sildiniz
    bg: Съобщението беше изтрито | Това съобщение беше изтрито | Изтрихте това съобщение
    bn: এই মেসেজটি বাদ দেওয়া হয়েছে | এই বার্তাটি মুছে ফেলা হয়েছে | আপনি এই মেসেজটি বাদ দিয়েছেন
    bn: আপনি এই বার্তাটি মুছে ফেলেছেন
    ca: Aquest missatge s'ha suprimit | Aquest missatge està esborrat | Has suprimit aquest missatge
    ca: Has esborrat aquest missatge
    cs: Tato zpráva byla smazána | Tato zpráva byla odstraněna | Tuto zprávu jste smazal/a
    cs: Tuto zprávu jste odstranil/a
    da: Denne besked er blevet slettet | Denne besked blev slettet | Du har slettet denne besked
    da: Du slettede denne besked
    de: Diese Nachricht wurde gelöscht | Du hast diese Nachricht gelöscht | Nachricht gelöscht
    el: Αυτό το μήνυμα διαγράφηκε | Διαγράψατε αυτό το μήνυμα | Διαγράψατε το μήνυμα
    en: This message was deleted | You deleted this message | This message has been deleted
    en: You deleted this message as admin
    es: Se eliminó este mensaje | Eliminaste este mensaje | Este mensaje fue eliminado | Este mensaje se eliminó
    es: Mensaje eliminado
    es: Has eliminado este mensaje | Este mensaje ha sido eliminado | Se ha eliminado este mensaje
    es: Borraste este mensaje
    et: See sõnum on kustutatud | Kustutasid selle sõnumi
    fa: این پیام حذف شده است | این پیام حذف شد | شما این پیام را حذف کردید
    fi: Tämä viesti poistettiin | Tämä viesti on poistettu | Poistit tämän viestin
    fr: Ce message a été supprimé | Vous avez supprimé ce message
    gu: આ મેસેજ ડિલીટ કરાયો | આ સંદેશ રદ્દ કરાયો | તમે આ મેસેજ ડિલીટ કર્યો | તમે આ સંદેશને રદ્દ કર્યો
    he: הודעה זו נמחקה | ההודעה נמחקה | מחקת הודעה זו | מחקת את ההודעה הזו | ההודעה הזו נמחקה
    hi: यह मैसेज डिलीट कर दिया गया है | यह मैसेज डिलीट किया गया | यह संदेश मिटाया गया | आपने यह मैसेज डिलीट किया
    hi: आपने यह संदेश मिटाया
    hi: यह संदेश हटा दिया गया | यह संदेश हटा दिया गया था | यह संदेश हटाया गया | आपने यह संदेश हटाया
    hi: आपने यह संदेश हटा दिया
    hr: Ova je poruka izbrisana | Ova poruka je izbrisana | Izbrisali ste ovu poruku
    hu: Ez az üzenet törlésre került | Ezt az üzenetet törölték | Ezt az üzenetet törölted | Törölted ezt az üzenetet
    id: Pesan ini dihapus | Pesan ini telah dihapus | Anda menghapus pesan ini | Anda telah menghapus pesan ini
    it: Questo messaggio è stato eliminato | Hai eliminato questo messaggio
    ja: このメッセージは削除されました | このメッセージを削除しました | メッセージは削除されました
    kk: Бұл хат жойылды | Сіз бұл хатты жойдыңыз
    kn: ಈ ಸಂದೇಶವು ಅಳಿಸಲ್ಪಟ್ಟಿದೆ | ನೀವು ಈ ಸಂದೇಶವನ್ನು ಅಳಿಸಿದ್ದೀರಿ
    ko: 삭제된 메시지입니다 | 이 메시지는 삭제되었습니다 | 삭제한 메시지입니다 | 이 메시지를 삭제했습니다
    lt: Ši žinutė buvo ištrinta | Jūs ištrynėte šią žinutę
    lv: Šī ziņa tika izdzēsta | Jūs izdzēsāt šo ziņu
    mk: Оваа порака беше избришана | Ја избриша оваа порака
    ml: ഈ സന്ദേശം ഇല്ലാതാക്കിയതാണ് | ഈ സന്ദേശം നിങ്ങൾ ഇല്ലാതാക്കി
    mr: हा मेसेज हटवण्यात आला | हा संदेश हटविण्यात आला होता | तुम्ही हा मेसेज हटवला | आपण हा संदेश हटविलात
    ms: Mesej ini telah dipadam | Mesej ini dipadam | Anda telah memadamkan mesej ini
    nb: Denne meldingen ble slettet | Denne meldingen er slettet | Du slettet denne meldingen
    nl: Dit bericht is verwijderd | U hebt dit bericht verwijderd | Je hebt dit bericht verwijderd
    pa: ਇਸ ਸੁਨੇਹੇ ਨੂੰ ਹਟਾਇਆ ਗਿਆ | ਤੁਸੀਂ ਇਹ ਸੁਨੇਹਾ ਹਟਾਇਆ
    pl: Ta wiadomość została usunięta | Usunięto tę wiadomość | Wiadomość została usunięta | Usunąłeś tę wiadomość
    pl: Usunęłaś tę wiadomość | Usunąłeś(-ęłaś) tę wiadomość | Usunąłeś(aś) tę wiadomość
    pt: Mensagem apagada | Esta mensagem foi apagada | Essa mensagem foi apagada | Esta mensagem foi eliminada
    pt: Esta mensagem foi apagada pelo remetente | Você apagou esta mensagem | Apagou esta mensagem
    pt: Você apagou essa mensagem
    pt: Eliminou esta mensagem | Apagaste esta mensagem
    ro: Acest mesaj a fost șters | Ați șters acest mesaj | Ai șters acest mesaj
    ru: Данное сообщение удалено | Это сообщение было удалено | Сообщение удалено | Это сообщение удалено
    ru: Вы удалили это сообщение | Вы удалили данное сообщение
    sk: Táto správa bola odstránená | Túto správu ste odstránili
    sl: To sporočilo je bilo izbrisano | To sporočilo ste izbrisali
    sr: Ова порука је обрисана | Ova poruka je obrisana | Обрисао/ла си ову поруку
    sv: Det här meddelandet raderades | Detta meddelande raderades | Meddelandet har raderats
    sv: Detta meddelande har raderats
    sv: Du har tagit bort meddelandet | Du raderade det här meddelandet | Du raderade detta meddelande
    sw: Ujumbe huu ulifutwa | Umefuta ujumbe huu
    ta: இத்தகவல் திரும்பப்பெறப்பட்டது | இத்தகவலை தாங்கள் அழித்தீர்கள் | இந்தச் செய்தி நீக்கப்பட்டது
    te: ఈ సందేశం తొలగించబడింది
    th: ข้อความนี้ถูกลบแล้ว | ข้อความนี้ได้ถูกลบ | ข้อความนี้ถูกลบ | คุณได้ลบข้อความนี้ | คุณลบข้อความนี้
    tl: Itong mensahe ay binura na | Binura mo itong mensahe
    tr: Bu mesaj silindi | Bu mesajı sildiniz | Bu mesajı sildin
    uk: Це повідомлення було видалено | Це повідомлення видалено | Повідомлення видалено | Ви видалили це повідомлення
    ur: یہ میسج حذف کر دیا گیا ہے | یہ پیغام حذف کیا گیا | یہ پیغام حذف کر دیا گیا | آپ نے یہ میسج حذف کر دیا ہے
    ur: آپ نے اس پیغام کو حذف کیا
    uz: Ushbu xabar o'chirildi | Siz ushbu xabarni o'chirdingiz
    vi: Tin nhắn này đã bị xóa | Tin nhắn này đã bị xoá | Bạn đã xóa tin nhắn này | Bạn đã xoá tin nhắn này
    vi: Tin nhắn đã bị thu hồi
    zh: 此訊息已刪除 | 这条消息已被删除 | 此消息已删除 | 信息已删除 | 此訊息已被刪除 | 您已刪除此訊息
    zh: 您已删除这条消息 | 您删除这个信息 | 你已刪除此訊息
    zh: 你已删除此消息 | 您已删除此消息 | 該訊息已刪除 | 该消息已被删除 | 你删除了这条消息
""")

ATTACHED = _wordings("""
    af: lêer aangeheg | aangeheg
    ar: الملف مرفق | ملف مرفق | مرفق | تم إرفاق ملف | تم إرفاق الملف
    bg: прикачен файл | прикачено
    bn: ফাইল সংযুক্ত | সংযুক্ত
    ca: fitxer adjunt | adjunt
    cs: přiložený soubor | soubor přiložen | přiloženo | příloha
    da: fil vedhæftet | vedhæftet | vedhæftet fil
    de: Datei angehängt | Anhang | angehängt | Datei im Anhang
    el: συνημμένο αρχείο | συνημμένο | επισυνάφθηκε αρχείο
    en: file attached | attached
    es: archivo adjunto | adjunto | fichero adjunto
    et: fail lisatud | manustatud
    fa: فایل پیوست شد | پیوست | فایل پیوست | پیوست شده
    fi: liitetty tiedosto | liitetiedosto | liite | tiedosto liitetty | liitetty
    fr: fichier joint | pièce jointe | joint | fichier attaché
    gu: ફાઇલ જોડાયેલ છે
    he: קובץ מצורף | הקובץ מצורף | מצורף | קובץ צורף | צורף קובץ
    hi: फ़ाइल संलग्न है | फ़ाइल संलग्न | फ़ाइल अटैच है | संलग्न | फ़ाइल अटैच की गई | अटैच किया गया
    hr: datoteka priložena | priloženo | priložena datoteka
    hu: fájl csatolva | csatolva | csatolt fájl | mellékelve
    id: file terlampir | terlampir | berkas terlampir
    it: file allegato | allegato
    ja: 添付ファイル | ファイル添付 | 添付 | ファイルが添付されています | ファイルを添付
    ko: 파일 첨부됨 | 첨부 파일 | 첨부됨 | 첨부 | 파일 첨부
    ms: fail dilampirkan | dilampirkan | fail lampiran
    mr: फाइल जोडली आहे
    nb: fil vedlagt | vedlagt | vedlegg
    nl: bestand bijgevoegd | bijgevoegd | bijlage
    pl: załączono plik | plik załączony | załączony plik | załączono | załącznik | załączony
    pt: arquivo anexado | ficheiro anexado | anexado | anexo | ficheiro em anexo | arquivo em anexo
    ro: fișier atașat | atașat | fișierul atașat | atașament
    ru: файл добавлен | прикреплено | вложение | файл прикреплен | файл прикреплён | прикреплён | прикреплен
    ru: добавлено
    sk: priložený súbor | súbor priložený | priložené | príloha
    sl: priložena datoteka | priloženo
    sr: датотека је приложена | приложено
    sv: bifogad fil | bifogad | fil bifogad | bilaga
    sw: faili imeambatishwa
    ta: கோப்பு இணைக்கப்பட்டது
    th: ไฟล์ที่แนบ | แนบไฟล์ | ไฟล์แนบ | แนบ
    tr: dosya ekli | ekli | eklendi | ek | dosya eklendi | dosya eki
    uk: файл додано | додано | прикріплено | вкладення | файл прикріплено
    ur: فائل منسلک ہے | منسلک | فائل منسلک
    vi: tệp đính kèm | đã đính kèm | đính kèm | file đính kèm
    zh: 檔案已附加 | 文件附件 | 附加文件 | 附件 | 已附加檔案 | 附加檔案 | 文件已附加 | 附加 | 已附加 | 附加的文件
    zh: 檔案附件 | 已附上檔案
""")

MISSED_CALL = _wordings("""
    ar: مكالمة صوتية فائتة | مكالمة فيديو فائتة
    bg: Пропуснато гласово обаждане | Пропуснато видео обаждане
    ca: Trucada de veu perduda | Videotrucada perduda
    cs: Zmeškaný hlasový hovor | Zmeškaný hovor | Zmeškaný videohovor
    da: Ubesvaret taleopkald | Ubesvaret videoopkald | Mistet opkald
    de: Verpasster Sprachanruf | Verpasster Videoanruf | Verpasster Anruf | Verpasster Gruppenanruf
    el: Αναπάντητη φωνητική κλήση | Αναπάντητη κλήση | Αναπάντητη βιντεοκλήση
    en: Missed voice call | Missed video call | Missed group voice call | Missed group video call | Missed call
    es: Llamada perdida | Llamada de voz perdida | Videollamada perdida | Llamada grupal perdida
    es: Videollamada grupal perdida
    fa: تماس صوتی پاسخ داده نشده | تماس تصویری پاسخ داده نشده | تماس صوتی بی‌پاسخ | تماس تصویری بی‌پاسخ
    fi: Vastaamaton äänipuhelu | Vastaamaton videopuhelu
    fr: Appel vocal manqué | Appel vidéo manqué
    he: שיחה קולית שלא נענתה | שיחת וידאו שלא נענתה
    hi: मिस्ड वॉइस कॉल | मिस्ड वीडियो कॉल | वॉइस कॉल मिस हुई | छूटी हुई ध्वनि कॉल
    hr: Propušteni glasovni poziv | Propušteni videopoziv
    hu: Nem fogadott hanghívás | Nem fogadott videohívás
    id: Panggilan suara tak terjawab | Panggilan video tak terjawab
    it: Chiamata vocale persa | Videochiamata persa
    ja: 不在着信 | 音声通話不在着信 | ビデオ通話不在着信
    ko: 부재중 전화 | 부재중 음성통화 | 부재중 영상통화 | 부재중 음성 통화 | 부재중 영상 통화
    ms: Panggilan suara terlepas | Panggilan video terlepas
    nb: Tapt taleanrop | Tapt videoanrop
    nl: Gemist spraakgesprek | Gemiste spraakoproep | Gemist videogesprek | Gemiste video-oproep | Gemiste oproep
    pl: Nieodebrane połączenie głosowe | Nieodebrane połączenie | Nieodebrane połączenie wideo
    pl: Nieodebrane poł. głosowe
    pt: Chamada de voz perdida | Chamada de vídeo perdida | Videochamada perdida | Ligação de voz perdida
    pt: Ligação de vídeo perdida
    ro: Apel vocal ratat | Apel video ratat | Apel vocal nepreluat | Apel video nepreluat
    ru: Пропущенный аудиозвонок | Пропущенный видеозвонок
    sv: Missat röstsamtal | Missat videosamtal | Missat samtal
    th: สายที่ไม่ได้รับ | วิดีโอคอลที่ไม่ได้รับ
    tr: Cevapsız sesli arama | Cevapsız görüntülü arama
    uk: Пропущений аудіодзвінок | Пропущений відеодзвінок
    vi: Cuộc gọi nhỡ | Cuộc gọi nhỡ video | Cuộc gọi thoại nhỡ
    zh: 未接語音通話 | 未接语音通话 | 未接視像通話 | 未接视频通话 | 未接視訊通話
""")

EDITED = re.compile(
    r"edit|édit|modif|bearbeitet|bewerk|redigun|redigert|redigeret|redigera|redaguota|düzenlen|измен|отредакт"
    r"|зміне|редаг"
    r"|muokat|upraven|editovan|szerkeszt|επεξεργ|τροποπ|chỉnh sửa|zmienion|diubah|disunting|edyt|uređen|izmenjen"
    r"|измењен"
    r"|編集|编辑|編輯|修改|수정|편집|تعديل|تحرير|ویرایش|نערכה|נערכה|ערוכ|एडिट|संपादित|সম্পাদ|ترمیم|แก้ไข",
    re.IGNORECASE,
)

MEDIA_STEM = re.compile(
    r"media|medi[eëj]|médi|mídia|multim|медиа|медіа|медиј|мултимед|媒体|媒體|メディア|미디어|मीडिया|মিডিয়া"
    r"|মিডিয়া|وسائط|رسانه|میڈیا|מדיה"
    r"|πολυμέσ|สื่อ|ਮੀਡੀਆ|મીડિયા|మీడియా|மீடியா|ಮೀಡಿಯಾ|മീഡിയ|omitted|omitid|omess|omis(?!s)|weggela|ausgela|ausgesch",
    re.IGNORECASE,
)

OMITTED_STEM = re.compile(
    r"omitt|omitid|omess|omis\b|omès|ocult|weggela|ausgela|utel|udelad|vynech|pomini|izostav|kihagy|dahil edil|atlan"
    r"|отсутств|відсутн|не додан|не добавл|略去|省略|忽略|生略|생략|제외|含まれて|הושמט|إدراج|حذف شد|छोड़|हटा"
    r"|বাদ দেও|tidak diserta"
    r"|jätett|sisällyt|παρ[αά]λ|bỏ qua|ถูกลบ|absent|non inclus|não revelad",
    re.IGNORECASE,
)

VIEW_ONCE = re.compile(
    r"view once|visualización única|para ver una vez|visualização única|einmalansicht|einmalig|vue unique"
    r"|visualizza una volta"
    r"|weergeven|eenmalig|однократн|одноразов|tek seferlik|bir kez|1回限り|一次性|檢視一次|查看一次|한 번 보기"
    r"|لمرة واحدة|एक बार|sekali lihat"
    r"|jednorazow|jednorázov|visa en gång|vis én gang|צפייה חד",
    re.IGNORECASE,
)

# What stands for a message that its sender did send: a live location, one that hasn't arrived yet.
SENT = re.compile(
    r"location|ubicación|localização|localiza|standort|posizione|localisation|locatie|местополож|геоданн|konum|位置"
    r"|위치|الموقع|lokasi|lokacij|położeni|posisjon|plats|sijainti|स्थान|מיקום|vị trí|ตำแหน่ง|waiting for th"
    r"|esperando|aguardando|warte auf|wartet auf|en attente|in attesa|wachten op|ожида|bekleniyor"
    r"|待って|お待ち|等待|기다리|menunggu|oczekiw|בהמתנה",
    re.IGNORECASE,
)

# "Messages and calls are end-to-end encrypted", with or without what follows: how it begins, and what it tells.
_ARTICLES = (
    r"your |this |los |las |tus |as |suas |les |vos |i |tuoi |le |deine |uw |dine |τα |οι |els |a |az |ваши |ваші "
    r"|твоите "
)
_MESSAGES = (
    r"messag|chat|mensaj|mensag|nachricht|messagg|bericht|boodskap|сообщени|повідомлен|съобщени|пораки|mesaj"
    r"|メッセージ|訊息|消息|信息|您|메시지|الرسائل|मैसेज|संदेश|सन्देश|মেসেজ|বার্তা|pesan|mesej|wiadomo|viesti"
    r"|besked|melding|meddeland|zpráv|správ|poruk|sporoči|missatg|μηνύματα|הודעות|ההודעות|üzenet|csevegés|tin nhắn"
    r"|những tin nhắn|ข้อความ|پیام|پیغامات|مسیج|میسج|conversa|llamadas|chamada"
)
ENCRYPTION_START = re.compile(f"(?:{_ARTICLES})*(?:{_MESSAGES})", re.IGNORECASE)
ENCRYPTION_FIRST_WORD = re.compile(
    f"(?:{_MESSAGES}|(?:{_ARTICLES.replace(' ', '')})$)".replace(" |", "|"), re.IGNORECASE
)
ENCRYPTION = re.compile(
    r"end[- ]to[- ]end|end-til-end|ende til ende|ende-zu-ende|extremo a extremo|extrem a extrem"
    r"|ponta[- ]a[- ]ponta|bout en bout"
    r"|сквозн|наскрізн|край до край|uçtan uca|エンドツーエンド|端[對对到]端|암호화|مشفرة|التشفير|एंड-टू-एंड"
    r"|एन्ड-टू-एन्ड|एन्क्रिप्|एन्ड टू एन्ड"
    r"|hujung ke hujung|salat[at]+aan täysin|täysin salat|κρυπτογρ|מקצה לקצה|koncov|végpontok közötti|végponttól"
    r"|integral|fund-e-krye"
    r"|potpunom enkrip|pełne szyfrow|total kryptering|komplett kryptering|totalsträcks|kryptert|krypterade"
    r"|mã hóa đầu|mã hoá đầu"
    r"|เข้ารหัส|سرتاسر|شروع سے آخر|এনক্রিপ|enkripsi|šifrir|šifrovan",
    re.IGNORECASE,
)

# Verbs and nouns of what a notice tells about a group: trusted only next to the name of the person it tells of.
NOTICE = re.compile(
    r"\b(?:added|removed|left|joined|created|changed|pinned|turned|updated|deleted this group|now an admin"
    r"|requested|started|reset"
    r"|añadió|agregó|eliminó|salió|creó|cambió|unió|fijó|activó|desactivó|actualizó|adicionou|removeu|saiu|criou"
    r"|mudou|alterou|entrou"
    r"|fixou|ativou|desativou|hinzugefügt|entfernt|verlassen|erstellt|geändert|beigetreten|angepinnt|fixiert"
    r"|a ajouté|a retiré|a quitté"
    r"|a créé|a changé|a modifié|a rejoint|a épinglé|ha aggiunto|ha rimosso|è uscit[oa]|ha abbandonato|ha creato"
    r"|ha cambiato|ha modificato"
    r"|si è unit[oa]|toegevoegd|verwijderd|verlaten|aangemaakt|gemaakt|gewijzigd|vastgezet|добавил|удалил|вышел"
    r"|вышла|создал|изменил"
    r"|присоединил|покинул|додав|видали|вийш|створи|зміни|ekledi|çıkardı|ayrıldı|oluşturdu|değiştirdi|katıldı"
    r"|dodał|usunął|opuścił|utworzył"
    r"|zmienił|dołączył|menambahkan|mengeluarkan|keluar|membuat|mengubah|bergabung|lade till|tog bort|lämnade"
    r"|skapade|ändrade|tilføjede"
    r"|fjernede|forlod|oprettede|la til|fjernet|forlot|opprettet|endret|lisäsi|poisti|poistui|loi|muutti|liittyi)\b"
    r"|님이|님을|님께서|追加|退出|加入|新增|移除|建立|创建|更改|變更|添加|作成|変更|削除|أضاف|غادر|أزال|أنشأ"
    r"|غي[ّ]?ر|انضم|הוסיפ|הוסיף|הסיר|עזב|יצר|שינ[הת]"
    r"|जोड़ा|हटाया|छोड़|बनाया|बदल|เพิ่ม|ออก|สร้าง|เปลี่ยน|đã thêm|đã rời|đã tạo|đã thay đổi|افزود|ترک کرد|حذف کرد"
    r"|تغییر داد",
    re.IGNORECASE,
)

# Notices that quote a text, in which a colon may stand: `Ana changed the subject to "Foo: bar"`.
NOTICE_WITH_QUOTE = re.compile(
    r"\b(?:changed|created|cambió|creó|mudou|alterou|criou|geändert|erstellt|a changé|a modifié|a créé|ha cambiato"
    r"|ha modificato|ha creato"
    r"|gewijzigd|aangemaakt|gemaakt|изменил|создал|сменил|зміни|створи|değiştirdi|oluşturdu|zmienił|utworzył"
    r"|mengubah|membuat|ändrade|skapade)"
    r"[^:]{0,60}\b(?:subject|group name|group|asunto|nombre|grupo|assunto|nome|betreff|gruppe|gruppenname|objet"
    r"|sujet|nom|groupe|oggetto|gruppo"
    r"|onderwerp|groep|тему|название|групп|назву|konu|grup|temat|subjek|grupp|ämne)",
    re.IGNORECASE,
)

# How notices to the reader of the export begin; complete enough that nobody begins a message like that.
NOTICES_TO_READER = tuple(
    plain(text)
    for text in """
    You created group|You created this group|You were added|You joined using|You changed this group's
    You changed the group|You changed the subject
    You're now an admin|You're no longer an admin|You turned on disappearing messages
    You turned off disappearing messages|Your security code with
    Creaste el grupo|Creaste este grupo|Te uniste usando|Te uniste mediante|Cambiaste el asunto
    Cambió tu código de seguridad|Ahora eres admin
    Você criou o grupo|Você criou este grupo|Você entrou usando|Você mudou o nome|Você mudou a imagem
    Seu código de segurança com|O seu código de segurança
    Du hast die Gruppe|Du hast diese Gruppe erstellt|Du bist dieser Gruppe|Deine Sicherheitsnummer
    Vous avez créé le groupe|Vous avez créé ce groupe
    Votre code de sécurité avec|Hai creato il gruppo|Hai creato questo gruppo|Il tuo codice di sicurezza
    Je hebt deze groep|Je beveiligingscode voor
    Uw beveiligingscode voor|Вы создали группу|Вы создали эту группу|Ваш код безопасности|Bu grubu oluşturdunuz
    Anda membuat grup ini|Kode keamanan Anda
    """.replace("\n", "|").split("|")
    if text.strip()
)

_SENTENCES = OMITTED_MEDIA | OMITTED_KIND | DELETED | ATTACHED | MISSED_CALL | frozenset(NOTICES_TO_READER)

LONGEST_SENTENCE = 160
"""More characters than any sentence of the app that stands in place of a message."""

FIRST_WORDS = frozenset(sentence.split()[0].strip(_AROUND) for sentence in _SENTENCES)
"""How such a sentence begins: a text that begins otherwise needs no closer look."""

LAST_WORDS = frozenset(sentence.split()[-1] for sentence in OMITTED_KIND)
"""How a placeholder ends before which a file name may stand."""
