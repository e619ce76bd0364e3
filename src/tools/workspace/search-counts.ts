import { StringDecoder } from "node:string_decoder"

/** The ripgrep arguments for `readCounts`. */
export const countArguments = ["--count-matches", "--with-filename", "--null"]

/** Reads how many matches each file has: a name, NUL, a number and a line feed. A name may contain line feeds. */
export function readCounts(each: (printed: string, count: number) => void): (bytes: Buffer) => void {
  const decoder = new StringDecoder("utf8")
  let rest = ""
  return (bytes) => {
    const text = rest + decoder.write(bytes)
    let at = 0
    for (let nul = text.indexOf("\0"); nul !== -1; nul = text.indexOf("\0", at)) {
      const end = text.indexOf("\n", nul)
      if (end === -1) break
      each(text.slice(at, nul), Number(text.slice(nul + 1, end)))
      at = end + 1
    }
    rest = text.slice(at)
  }
}
