/**
 * Keeps the first of any number of things in an order, without putting all of them in order: so many, or as many as have
 * that weight together.
 */
export class FirstOf<Item> {
  readonly #most: number
  readonly #compare: (one: Item, other: Item) => number
  readonly #weigh: (item: Item) => number
  readonly #items: Item[] = []
  #weight = 0
  /** Nothing that comes after it is among the first. */
  #last: Item | undefined

  constructor(most: number, compare: (one: Item, other: Item) => number, weigh: (item: Item) => number = () => 1) {
    this.#most = most
    this.#compare = compare
    this.#weigh = (item) => Math.min(most, weigh(item))
  }

  /** Whether it could be among the first, as far as is known. */
  takes(item: Item): boolean {
    return this.#last === undefined || this.#compare(item, this.#last) <= 0
  }

  add(item: Item): void {
    if (!this.takes(item)) return
    this.#items.push(item)
    this.#weight += this.#weigh(item)
    if (this.#weight >= 2 * this.#most + slack || this.#items.length >= 2 * this.#most + slack) this.#cut()
  }

  sorted(): Item[] {
    this.#cut()
    return this.#items
  }

  #cut(): void {
    this.#items.sort(this.#compare)
    let weight = 0
    let count = 0
    while (count < this.#items.length && weight < this.#most) weight += this.#weigh(this.#items[count++]!)
    this.#weight = weight
    if (weight < this.#most) return
    this.#items.length = count
    this.#last = this.#items.at(-1)
  }
}

const slack = 1000
