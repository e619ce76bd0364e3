/** The kind of a file by its first bytes. */
export interface FileKind {
  readonly name: string
  readonly mimeType: string
}

const kinds: readonly (readonly [beginning: string, name: string, mimeType: string, at?: number])[] = [
  ["\x89PNG\r\n\x1a\n", "a PNG image", "image/png"],
  ["\xff\xd8\xff", "a JPEG image", "image/jpeg"],
  ["GIF8", "a GIF image", "image/gif"],
  ["WEBP", "a WebP image", "image/webp", 8],
  ["BM", "a BMP image", "image/bmp"],
  ["II*\0", "a TIFF image", "image/tiff"],
  ["MM\0*", "a TIFF image", "image/tiff"],
  ["\0\0\x01\0", "an icon", "image/x-icon"],
  ["%PDF-", "a PDF document", "application/pdf"],
  ["PK\x03\x04", "a ZIP archive or an Office document", "application/zip"],
  ["PK\x05\x06", "an empty ZIP archive", "application/zip"],
  ["\x1f\x8b", "data compressed with gzip", "application/gzip"],
  ["BZh", "data compressed with bzip2", "application/x-bzip2"],
  ["\xfd7zXZ\0", "data compressed with xz", "application/x-xz"],
  ["\x28\xb5\x2f\xfd", "data compressed with zstd", "application/zstd"],
  ["7z\xbc\xaf\x27\x1c", "a 7z archive", "application/x-7z-compressed"],
  ["ustar", "a tar archive", "application/x-tar", 257],
  ["\x7fELF", "a Linux program or library", "application/x-elf"],
  ["MZ", "a Windows program", "application/vnd.microsoft.portable-executable"],
  ["\xcf\xfa\xed\xfe", "a macOS program", "application/x-mach-binary"],
  ["\xca\xfe\xba\xbe", "a Java class or a macOS program", "application/java-vm"],
  ["\0asm", "a WebAssembly module", "application/wasm"],
  ["SQLite format 3\0", "an SQLite database", "application/vnd.sqlite3"],
  ["ftyp", "a video or an image of the MPEG-4 family", "video/mp4", 4],
  ["\x1aE\xdf\xa3", "a Matroska or WebM video", "video/x-matroska"],
  ["OggS", "an Ogg file", "audio/ogg"],
  ["ID3", "an MP3 file", "audio/mpeg"],
  ["fLaC", "a FLAC file", "audio/flac"],
  ["WAVE", "a WAV file", "audio/wav", 8],
  ["\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document", "application/x-ole-storage"],
  ["wOF2", "a font", "font/woff2"],
  ["wOFF", "a font", "font/woff"],
]

export function kindOfBytes(bytes: Buffer): FileKind | undefined {
  const head = bytes.toString("latin1", 0, 300)
  const found = kinds.find(([beginning, , , at = 0]) => head.startsWith(beginning, at))
  return found && { name: found[1], mimeType: found[2] }
}

/** The image types that models can view. */
export const viewableImages: readonly string[] = ["image/png", "image/jpeg", "image/gif", "image/webp"]
