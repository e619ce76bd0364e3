/** Where the value of a variable stands in a word, until it is put there. No script that is read has these characters. */
export function variableMark(name: string): string {
  return `\uE000${name}\uE001`
}

const marks = /\uE000([^\uE001]*)\uE001/g

/** The variables whose values stand in a word. */
export function variablesIn(value: string): string[] {
  return value.includes("\uE000") ? [...value.matchAll(marks)].map(([, name]) => name!) : []
}

/** The word with the values in it; a variable without one stands there by its name, as people write it. */
export function withValues(value: string, values: ReadonlyMap<string, string>): string {
  return value.includes("\uE000") ? value.replace(marks, (_, name: string) => values.get(name) ?? `$${name}`) : value
}

/** `$name`, `${name}` and `$?`, where one begins. */
export function variableAt(text: string, at: number): { readonly name: string; readonly length: number } | undefined {
  const found = /^\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*)|(\?))/.exec(text.slice(at, at + 60))
  return found === null ? undefined : { name: (found[1] ?? found[2] ?? found[3])!, length: found[0].length }
}
