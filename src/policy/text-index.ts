import type { Glob } from "../model/glob.ts"

/** How many first characters a pattern is filed under: the largest that it fixes. */
const lengths = [32, 16, 8, 4, 2, 1]

/** Finds the few patterns that could match a text without trying them all. */
export class TextIndex<Value> {
  readonly #literal = new Map<string, Value[]>()
  readonly #starts = new Map<number, Map<string, Value[]>>()
  readonly #others: Value[] = []

  add({ literal, start }: Glob, value: Value): void {
    if (literal !== undefined) return file(this.#literal, literal, value)
    const length = lengths.find((most) => most <= start.length)
    if (length === undefined) return void this.#others.push(value)
    let shelf = this.#starts.get(length)
    if (shelf === undefined) this.#starts.set(length, (shelf = new Map()))
    file(shelf, start.slice(0, length), value)
  }

  /** Shows every value whose pattern could match, and maybe some more. */
  near(text: string, show: (value: Value) => void): void {
    this.#literal.get(text)?.forEach(show)
    for (const [length, shelf] of this.#starts) shelf.get(text.slice(0, length))?.forEach(show)
    for (const value of this.#others) show(value)
  }
}

function file<Value>(shelf: Map<string, Value[]>, key: string, value: Value): void {
  const values = shelf.get(key)
  if (values === undefined) shelf.set(key, [value])
  else values.push(value)
}
