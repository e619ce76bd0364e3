import type { Glob } from "../../lib/glob.ts"

/** Finds the few patterns that could match a text by how they begin or end, without trying them all. */
export class TextIndex<Value> {
  readonly #literal = new Map<string, Value[]>()
  readonly #starts: Branch<Value> = {}
  readonly #ends: Branch<Value> = {}
  readonly #others: Value[] = []

  add({ literal, start, end }: Glob, value: Value): void {
    if (literal !== undefined) {
      if (this.#literal.get(literal)?.push(value) === undefined) this.#literal.set(literal, [value])
    } else if (start === "" && end === "") this.#others.push(value)
    else if (start.length >= end.length) grow(this.#starts, start.length, (at) => start.charCodeAt(at), value)
    else grow(this.#ends, end.length, (at) => end.charCodeAt(end.length - 1 - at), value)
  }

  /** Calls `visit` with every value whose pattern could match, and maybe with some more. */
  visitCandidates(text: string, visit: (value: Value) => void): void {
    this.#literal.get(text)?.forEach(visit)
    let branch: Branch<Value> | undefined = this.#starts.next && this.#starts
    for (let at = 0; branch !== undefined; at++) {
      branch.values?.forEach(visit)
      branch = branch.next?.get(text.charCodeAt(at))
    }
    branch = this.#ends.next && this.#ends
    for (let at = text.length - 1; branch !== undefined; at--) {
      branch.values?.forEach(visit)
      branch = branch.next?.get(text.charCodeAt(at))
    }
    for (const value of this.#others) visit(value)
  }
}

/** A node of the tree: the values that end here, and the next characters. */
interface Branch<Value> {
  values?: Value[]
  next?: Map<number, Branch<Value>>
}

function grow<Value>(root: Branch<Value>, length: number, codeAt: (at: number) => number, value: Value): void {
  let branch = root
  for (let at = 0; at < length; at++) {
    branch.next ??= new Map()
    let next = branch.next.get(codeAt(at))
    if (next === undefined) branch.next.set(codeAt(at), (next = {}))
    branch = next
  }
  branch.values ??= []
  branch.values.push(value)
}
