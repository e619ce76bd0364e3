/** Text as JSON. Text that is not JSON, or has a number that would not stay exact, is left as it is. */
export function parsedJson(text: string): unknown {
  if (/\d{16}/.test(text)) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
