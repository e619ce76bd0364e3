/** The first text in a recorded input on one line, else the input itself. */
export function firstText(input: string): string {
  const line = (text: string) => text.replaceAll(/\s+/g, " ").trim().slice(0, 200)
  try {
    const value: unknown = JSON.parse(input)
    if (typeof value !== "object" || value === null) return line(String(value))
    const text = Object.values(value).find((part) => typeof part === "string" && part !== "")
    return line(typeof text === "string" ? text : input === "{}" ? "" : input)
  } catch {
    return line(input)
  }
}
