"""The words of RTF (Rich Text Format 1.9.1) that tell text from everything else, and its code pages."""

from __future__ import annotations

import codecs

IGNORED = frozenset(
    """
    annotation atnauthor atndate atnicn atnid atnparent atnref atntime atrfend atrfstart author background bkmkend
    bkmkstart blipuid buptim colortbl comment company creatim datafield datastore defchp defpap do doccomm docvar
    ebcend ebcstart falt fchars ffdeftext ffentrymcr ffexitmcr ffformat ffhelptext ffl ffname ffstattext file
    filetbl fldinst fldtype fontemb fontfile footer footerf footerl footerr ftncn ftnsep ftnsepc generator gridtbl
    header headerf headerl headerr hl hlfr hlinkbase hlloc hlsrc hsv htmltag info keycode keywords latentstyles
    lchars levelnumbers leveltext lfolevel linkval list listlevel listname listoverride listoverridetable
    listpicture liststylename listtable lsdlockedexcept mailmerge manager mhtmltag mmathPr nextfile nonshppict
    objalias objclass objdata object objname objsect oldcprops oldpprops oldsprops oldtprops operator panose
    password passwordhash pgp pgptbl picprop pict pn pnseclvl pntxta pntxtb printim private propname protend
    protstart protusertbl pxe revtbl revtim rsidtbl rxe shppict sn sp staticval subject sv svb tc template themedata
    title txe ud upr userprops wgrffmtfilter windowcaption writereservation writereservhash xe xform xmlattrname
    xmlattrvalue xmlclose xmlname xmlnstbl xmlopen
    """.split()
)
"""Groups whose contents are no text of the document."""

KEPT = frozenset({"shpinst", "shptxt", "shp", "footnote", "listtext", "pntext", "fldrslt", "stylesheet", "fonttbl"})
"""Groups that are read although they are marked as ignorable, or that have a meaning of their own."""

CHARACTERS = {
    **{"tab": " ", "line": "\n", "lbr": "\n", "emspace": " ", "enspace": " ", "qmspace": " ", "emdash": "—"},
    **{"endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•"},
}
SYMBOLS = {"~": "\u00a0", "_": "-", "-": "", "\n": "\x00par", "\r": "\x00par", "{": "{", "}": "}", "\\": "\\"}

_CHARSETS = {
    **{0: "cp1252", 77: "mac_roman", 128: "cp932", 129: "cp949", 130: "johab", 134: "gbk", 136: "cp950", 161: "cp1253"},
    **{162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251", 222: "cp874"},
    **{238: "cp1250", 255: "cp437"},
}


def charset_encoding(charset: int, default: str) -> str:
    """Return the encoding of a font's character set."""
    return _CHARSETS.get(charset, default)


def page_encoding(page: int) -> str:
    """Return the encoding of a code page, Western if Python doesn't know it."""
    if page == 65001:
        return "utf-8"
    try:
        return codecs.lookup(f"cp{page}").name
    except LookupError:
        return "mac_roman" if page == 10000 else "cp1252"
