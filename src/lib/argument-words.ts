/** A condition of a rule on a value, in words: `docs/*`, `above 100 and below 200`, `one of EUR, USD`, `not test-*`. */
export function argumentWords(written: unknown): string {
  if (typeof written !== "object" || written === null) return String(written)
  const words: Readonly<Record<string, string>> = { oneOf: "one of" }
  return Object.entries(written as Record<string, unknown>)
    .filter(([, value]) => value !== undefined)
    .map(
      ([name, value]) =>
        `${words[name] ?? name} ${[value]
          .flat()
          .map(String)
          .join(name === "not" ? " or " : ", ")}`,
    )
    .join(" and ")
}
