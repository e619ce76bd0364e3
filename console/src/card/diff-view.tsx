import { diffWordsWithSpace } from "diff"
import { useMemo } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { useWords } from "../words/words.tsx"
import { readDiff, type DiffLine, type DiffRow } from "./diff-lines.ts"
import { highlight } from "./highlight.ts"
import { cut, type Span } from "./marks.ts"

interface File {
  readonly path: string
  readonly diff: string
}

/** Loaded only when a card has a difference to show: it brings the grammars along. */
export default function DiffView({ file, columns }: { file: File; columns: 1 | 2 }) {
  const words = useWords()
  const rows = useMemo(() => paint(file), [file])
  if (rows.length === 0) return <pre className="plain">{printable(file.diff)}</pre>
  return (
    <table className={columns === 1 ? "diff diff-u" : "diff"}>
      <caption className="vh">{words.card.differences(printable(file.path))}</caption>
      <colgroup>
        <col className="d-n" />
        <col />
        {columns === 2 && <col className="d-n" />}
        {columns === 2 && <col />}
      </colgroup>
      <tbody>
        {rows.map((row, at) => (
          <Lines key={`${at}`} row={row} columns={columns} />
        ))}
      </tbody>
    </table>
  )
}

function Lines({ row, columns }: { row: PaintedRow; columns: 1 | 2 }) {
  const words = useWords()
  const gap = row.gap > 0 && (
    <tr>
      <td className="d-fold" colSpan={columns * 2}>
        {words.card.unchanged(row.gap)}
      </td>
    </tr>
  )
  if (columns === 2)
    return (
      <>
        {gap}
        <tr>
          <Cells line={row.left} />
          <Cells line={row.right} />
        </tr>
      </>
    )
  const { left, right } = row
  return (
    <>
      {gap}
      {left !== undefined && left.kind !== "same" && (
        <tr>
          <Cells line={left} />
        </tr>
      )}
      {right !== undefined && (
        <tr>
          <Cells line={right} />
        </tr>
      )}
    </>
  )
}

const look = { same: ["", ""], added: ["add", "+"], removed: ["del", "−"] } as const

function Cells({ line }: { line: PaintedLine | undefined }) {
  if (line === undefined)
    return (
      <>
        <td className="d-n gap" />
        <td className="gap" />
      </>
    )
  const [name, sign] = look[line.kind]
  return (
    <>
      <td className={`d-n ${name}`}>{line.number}</td>
      <td className={name}>
        <span className="d-s">{sign}</span>
        {cut(line.text, line.spans).map(({ text, names }, at) => {
          const key = `${at}`
          const className = names.filter((each) => each !== "word").join(" ")
          if (names.includes("word"))
            return (
              <mark key={key} className={className}>
                {text}
              </mark>
            )
          return className === "" ? (
            text
          ) : (
            <span key={key} className={className}>
              {text}
            </span>
          )
        })}
      </td>
    </>
  )
}

interface PaintedLine extends DiffLine {
  readonly spans: readonly Span[]
}
interface PaintedRow {
  readonly left: PaintedLine | undefined
  readonly right: PaintedLine | undefined
  readonly gap: number
}

/** Adds the colours of the language, and marks the words that differ in lines that were replaced. */
function paint({ path, diff }: File): readonly PaintedRow[] {
  const rows = readDiff(printable(diff))
  const colours = (side: "left" | "right") => highlight(path, rows.map((row) => row[side]?.text ?? "").join("\n"))
  const left = colours("left")
  const right = colours("right")
  return rows.map((row, at): PaintedRow => {
    const [removed, added] = changedWords(row)
    return {
      gap: row.gap,
      left: row.left && { ...row.left, spans: [...(left[at] ?? []), ...removed] },
      right: row.right && { ...row.right, spans: [...(right[at] ?? []), ...added] },
    }
  })
}

function changedWords({ left, right }: DiffRow): readonly [readonly Span[], readonly Span[]] {
  if (left?.kind !== "removed" || right?.kind !== "added" || left.text.length + right.text.length > 2000)
    return [[], []]
  const removed: Span[] = []
  const added: Span[] = []
  let before = 0
  let after = 0
  let same = 0
  for (const part of diffWordsWithSpace(left.text, right.text)) {
    const size = part.value.length
    if (part.removed) removed.push({ from: before, to: before + size, name: "word" })
    if (part.added) added.push({ from: after, to: after + size, name: "word" })
    if (!part.removed && !part.added) same += part.value.trim().length
    if (!part.added) before += size
    if (!part.removed) after += size
  }
  // Lines that have little in common are two lines, not a changed one.
  return same * 3 < Math.min(left.text.trim().length, right.text.trim().length) ? [[], []] : [removed, added]
}
