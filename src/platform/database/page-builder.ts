import type { Column, RowPage } from "./database-access.ts"

export const pageLimits = {
  /** Limit of one page, in characters of JSON. */
  characters: 2_000_000,
  /** Limit of rows of RETURNING that are kept. */
  returnedRows: 100,
} as const

/** Throws a RangeError for a row that no page holds. */
export function checkRowSize(row: readonly unknown[]): void {
  const size = rowSize(row)
  if (size > pageLimits.characters)
    throw new RangeError(`One row has ${size} bytes. Select fewer columns, or parts of them with substr().`)
}

/** About how many characters its values have. */
export function rowSize(row: readonly unknown[]): number {
  return row.reduce<number>((sum, value) => sum + sizeOf(value), 0)
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length
  return value instanceof Uint8Array ? value.byteLength : 8
}

/** Collects rows until a page is full. */
export class PageBuilder {
  readonly #rows: unknown[][] = []
  readonly #limit: number
  #left: number = pageLimits.characters
  #more = false

  constructor(limit: number) {
    this.#limit = limit
  }

  /** False when the page is full, and the row is not in it. */
  add(row: unknown[]): boolean {
    if (this.#more) return false
    const size = JSON.stringify(row).length
    this.#left -= size
    this.#more = this.#rows.length === this.#limit || (this.#left < 0 && this.#rows.length > 0)
    if (!this.#more) this.#rows.push(row)
    return !this.#more
  }

  finish(columns: readonly Column[]): RowPage {
    return { columns, rows: this.#rows, more: this.#more }
  }
}
