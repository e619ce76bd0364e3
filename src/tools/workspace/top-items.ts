/**
 * Keeps the first items of many in an order, without sorting all of them: up to `limit` of them, or of their total
 * weight.
 */
export class TopItems<Item> {
  readonly #limit: number
  readonly #compare: (a: Item, b: Item) => number
  readonly #weigh: (item: Item) => number
  readonly #items: Item[] = []
  #weight = 0
  /** Items that sort after this one are not among the first. */
  #last: Item | undefined

  constructor(limit: number, compare: (a: Item, b: Item) => number, weigh: (item: Item) => number = () => 1) {
    this.#limit = limit
    this.#compare = compare
    this.#weigh = (item) => Math.min(limit, weigh(item))
  }

  /** Reports whether it could still be among the first. */
  accepts(item: Item): boolean {
    return this.#last === undefined || this.#compare(item, this.#last) <= 0
  }

  add(item: Item): void {
    if (!this.accepts(item)) return
    this.#items.push(item)
    this.#weight += this.#weigh(item)
    if (this.#weight >= 2 * this.#limit + slack || this.#items.length >= 2 * this.#limit + slack) this.#cut()
  }

  sorted(): Item[] {
    this.#cut()
    return this.#items
  }

  #cut(): void {
    this.#items.sort(this.#compare)
    let weight = 0
    let count = 0
    while (count < this.#items.length && weight < this.#limit) weight += this.#weigh(this.#items[count++]!)
    this.#weight = weight
    if (weight < this.#limit) return
    this.#items.length = count
    this.#last = this.#items.at(-1)
  }
}

const slack = 1000
