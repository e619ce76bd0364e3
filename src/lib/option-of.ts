/** The option with this text, else with this number. */
export function optionOf(text: string, options: readonly string[]): string | undefined {
  if (options.includes(text)) return text
  return /^[1-9]\d*$/.test(text) ? options[Number(text) - 1] : undefined
}
