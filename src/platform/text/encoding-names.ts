/** The encodings that files may be read and written in, under the names we report. */
export const encodings = [
  "utf-8", "utf-16le", "utf-16be", "utf-32le", "utf-32be", "ascii", "latin1", "windows-1250", "windows-1251",
  "windows-1252", "windows-1253", "windows-1254", "windows-1255", "windows-1256", "windows-1257", "windows-1258",
  "windows-874", "iso-8859-2", "iso-8859-3", "iso-8859-4", "iso-8859-5", "iso-8859-6", "iso-8859-7", "iso-8859-8",
  "iso-8859-9", "iso-8859-10", "iso-8859-13", "iso-8859-14", "iso-8859-15", "iso-8859-16", "koi8-r", "koi8-u",
  "macintosh", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "base64",
] as const // prettier-ignore
export type Encoding = (typeof encodings)[number]

/** An encoding by any of its usual spellings; undefined for an unknown one. */
export function encodingNamed(name: string): Encoding | undefined {
  const plain = name.toLowerCase().replace(/[\s_-]/g, "")
  return spellings.get(plain)
}

const aliases: Readonly<Record<string, Encoding>> = {
  utf16: "utf-16le", ucs2: "utf-16le", utf32: "utf-32le", usascii: "ascii", iso88591: "latin1", binary: "latin1",
  cp1250: "windows-1250", cp1251: "windows-1251", cp1252: "windows-1252", cp1253: "windows-1253",
  cp1254: "windows-1254", cp1255: "windows-1255", cp1256: "windows-1256", cp1257: "windows-1257",
  cp1258: "windows-1258", cp874: "windows-874", win1251: "windows-1251", win1252: "windows-1252", gb2312: "gbk",
  cp936: "gbk", big5hkscs: "big5", cp950: "big5", sjis: "shift_jis", cp932: "shift_jis", windows31j: "shift_jis",
  eucjp: "euc-jp", euckr: "euc-kr", cp949: "euc-kr", ksc5601: "euc-kr", macroman: "macintosh",
} // prettier-ignore

const spellings = new Map<string, Encoding>([
  ...encodings.map((name): [string, Encoding] => [name.replace(/[_-]/g, ""), name]),
  ...Object.entries(aliases),
])
