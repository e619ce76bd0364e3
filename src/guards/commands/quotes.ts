/** Removes quotes as the shell does, from a word without expansions. */
export function unquoted(raw: string): string {
  let value = ""
  for (let at = 0; at < raw.length; at++) {
    const character = raw[at]!
    if (character === "\\") value += raw[++at] === "\n" ? "" : (raw[at] ?? "")
    else if (character === "'") {
      const end = raw.indexOf("'", at + 1)
      value += raw.slice(at + 1, end === -1 ? undefined : end)
      at = end === -1 ? raw.length : end
    } else if (character === '"') {
      const [inner, end] = doubleQuoted(raw, at + 1)
      value += inner
      at = end
    } else value += character
  }
  return value
}

function doubleQuoted(raw: string, from: number): [string, number] {
  let value = ""
  for (let at = from; at < raw.length; at++) {
    const character = raw[at]!
    if (character === '"') return [value, at]
    if (character !== "\\") value += character
    else {
      const next = raw[++at] ?? ""
      value += next === "\n" ? "" : '$`"\\'.includes(next) ? next : `\\${next}`
    }
  }
  return [value, raw.length]
}
