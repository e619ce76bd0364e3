/** Keeps the first so many of any number of things in an order, without putting all of them in order. */
export class FirstOf<Item> {
  readonly #most: number
  readonly #compare: (one: Item, other: Item) => number
  readonly #items: Item[] = []
  /** Nothing that comes after it is among the first. */
  #last: Item | undefined

  constructor(most: number, compare: (one: Item, other: Item) => number) {
    this.#most = most
    this.#compare = compare
  }

  add(item: Item): void {
    if (this.#last !== undefined && this.#compare(item, this.#last) > 0) return
    this.#items.push(item)
    if (this.#items.length >= 2 * this.#most + slack) this.#cut()
  }

  sorted(): Item[] {
    this.#cut()
    return this.#items
  }

  #cut(): void {
    this.#items.sort(this.#compare)
    if (this.#items.length < this.#most) return
    this.#items.length = this.#most
    this.#last = this.#items.at(-1)
  }
}

const slack = 1000
