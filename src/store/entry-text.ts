/** Text without a character that JSON would escape. */
const plain = /^[\w ./:@-]*$/

/**
 * What `JSON.stringify` says of a flat entry, in half the time: most of its fields are short plain texts and many are
 * not there.
 */
export function entryText(entry: object): string {
  let text = ""
  for (const [name, value] of Object.entries(entry) as [string, unknown][]) {
    if (value === undefined) continue
    text += text === "" ? `{"${name}":` : `,"${name}":`
    if (typeof value === "string") text += value.length < 100 && plain.test(value) ? `"${value}"` : JSON.stringify(value)
    else text += typeof value === "boolean" ? String(value) : JSON.stringify(value)
  }
  return `${text || "{"}}`
}
