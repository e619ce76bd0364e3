/** The steps of a JSON pointer (RFC 6901), or undefined when it is none. */
export function pointerSteps(pointer: string): string[] | undefined {
  if (pointer === "") return []
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** What a JSON pointer names in a value; undefined when there is nothing. */
export function pointedAt(value: unknown, steps: readonly string[]): unknown {
  let node = value
  for (const step of steps) {
    if (!has(node, step)) return undefined
    node = node[step]
  }
  return node
}

/** A copy in which what the pointers name is replaced by a mark. A pointer to nothing takes nothing out. */
export function withoutPointers(value: unknown, pointers: readonly string[], mark: unknown = "[redacted]"): unknown {
  let copy = structuredClone(value)
  for (const pointer of pointers) {
    const steps = pointerSteps(pointer)
    if (steps === undefined) continue
    const last = steps.pop()
    if (last === undefined) {
      copy = mark
      continue
    }
    const parent = pointedAt(copy, steps)
    if (has(parent, last)) parent[last] = mark
  }
  return copy
}

/** Of an array only its elements are named, not its length. */
function has(node: unknown, step: string): node is Record<string, unknown> {
  if (typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return false
  return !Array.isArray(node) || /^(0|[1-9]\d*)$/.test(step)
}
