/** A line of one side of a difference. `number` is its place in the file. */
export interface DiffLine {
  readonly kind: "same" | "added" | "removed"
  readonly number: number
  readonly text: string
}

/** A line on both sides; undefined where one side has none. `gap` says how many equal lines are left out before it. */
export interface DiffRow {
  readonly left: DiffLine | undefined
  readonly right: DiffLine | undefined
  readonly gap: number
}

/** Reads a unified diff of one file into rows, removed lines beside the added ones that replace them. */
export function readDiff(diff: string): readonly DiffRow[] {
  const rows: DiffRow[] = []
  let removed: DiffLine[] = []
  let added: DiffLine[] = []
  let left = 1
  let right = 1
  let gap = 0
  let inside = false

  const push = (row: Omit<DiffRow, "gap">) => {
    rows.push({ ...row, gap })
    gap = 0
  }
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) push({ left: removed[at], right: added[at] })
    removed = []
    added = []
  }
  for (const line of diff.split("\n")) {
    const head = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line)
    if (head !== null) {
      flush()
      gap = Math.max(0, Number(head[1]) - left)
      left = Number(head[1])
      right = Number(head[2])
      inside = true
      continue
    }
    if (!inside) continue
    const text = line.slice(1)
    if (line.startsWith("-")) {
      // A removal after an addition begins the next change.
      if (added.length > 0) flush()
      removed.push({ kind: "removed", number: left++, text })
    } else if (line.startsWith("+")) added.push({ kind: "added", number: right++, text })
    else if (line.startsWith(" ")) {
      flush()
      push({ left: { kind: "same", number: left++, text }, right: { kind: "same", number: right++, text } })
    }
  }
  flush()
  return rows
}
