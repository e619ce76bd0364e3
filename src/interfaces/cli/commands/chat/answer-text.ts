import { printable } from "../../../../lib/printable.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import { cutAt, endOf, indentOf } from "./layout.ts"

/** Maximum width of a text, so that it can be read. */
const widest = 100

/**
 * Sets an answer of a model as it comes: whole rows, and the row that is still being written. Headings, bold words and
 * code get a style; where there are no colours, the text stays as the model wrote it.
 */
export class AnswerText {
  readonly #paint: TerminalStyle
  readonly #hasStyle: boolean
  readonly #columns: () => number
  #line = ""
  #isCode = false
  #isBold = false
  /** The indent of the line that is being set; undefined at its beginning. */
  #indent: string | undefined

  constructor(paint: TerminalStyle, columns: () => number) {
    this.#paint = paint
    this.#hasStyle = paint.bold("x") !== "x"
    this.#columns = columns
  }

  /** The row that is not whole yet. */
  get tail(): string {
    const text = endOf(printable(this.#line), this.#width())
    if (this.#isCode) return this.#paint.cyan(text)
    const wasBold = this.#isBold
    const styled = this.#styled(text)
    this.#isBold = wasBold
    return styled
  }

  /** Adds a piece and returns the rows that are whole now. */
  add(piece: string): string[] {
    const lines = (this.#line + piece).replaceAll("\r", "").split("\n")
    this.#line = lines.pop() ?? ""
    const rows = lines.flatMap((line) => this.#set(line))
    if (this.#isCode || isFence(this.#line)) return rows
    while (cutAt(this.#line, this.#width()).end < this.#line.length) {
      const { row, rest } = this.#firstRow(this.#line)
      rows.push(row)
      this.#line = rest
    }
    return rows
  }

  /** The rows that are left when the answer is over. */
  end(): string[] {
    const rows = this.#line === "" ? [] : this.#set(this.#line)
    this.#line = ""
    this.#isCode = false
    this.#isBold = false
    this.#indent = undefined
    return rows
  }

  /** A whole line of the answer. Lines of code are not broken: the terminal does that, and they can be copied. */
  #set(line: string): string[] {
    if (isFence(line)) {
      this.#isCode = !this.#isCode
      return [this.#paint.dim(printable(line))]
    }
    if (this.#isCode) return [this.#paint.cyan(printable(line))]
    const rows: string[] = []
    let left = line
    do {
      const { row, rest } = this.#firstRow(left)
      rows.push(row)
      left = rest
    } while (left.trim() !== "")
    this.#isBold = false
    this.#indent = undefined
    return rows
  }

  /** The first row of what is left of a line. The rows after it are indented as its first one is. */
  #firstRow(line: string): { row: string; rest: string } {
    const { end, next } = cutAt(line, this.#width())
    this.#indent ??= indentOf(line, this.#width())
    const rest = line.slice(next)
    return { row: this.#styled(line.slice(0, end)), rest: rest === "" ? "" : this.#indent + rest }
  }

  #styled(row: string): string {
    const text = printable(row)
    if (!this.#hasStyle) return text
    if (/^#{1,6} /.test(text)) return this.#paint.bold(text.replace(/^#+ /, ""))
    return text
      .split(/(\*\*|`[^`]+`)/)
      .map((part) => {
        if (part === "**") {
          this.#isBold = !this.#isBold
          return ""
        }
        if (/^`[^`]+`$/.test(part)) return this.#paint.cyan(part.slice(1, -1))
        return this.#isBold && part !== "" ? this.#paint.bold(part) : part
      })
      .join("")
  }

  #width(): number {
    return Math.max(10, Math.min(widest, this.#columns() - 1))
  }
}

function isFence(line: string): boolean {
  return /^\s*(```|~~~)/.test(line)
}
