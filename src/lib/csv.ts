/** One CSV line (RFC 4180). Text that a spreadsheet would run as a formula gets a leading apostrophe. */
export function csvLine(fields: readonly (string | number)[]): string {
  return `${fields.map(csvField).join(",")}\r\n`
}

function csvField(value: string | number): string {
  const text = typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
