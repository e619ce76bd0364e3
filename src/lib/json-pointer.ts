/** The steps of a JSON pointer (RFC 6901). Undefined when it is not one. */
export function parseJsonPointer(pointer: string): string[] | undefined {
  if (pointer === "") return []
  if (!pointer.startsWith("/") || /~(?![01])/.test(pointer)) return undefined
  return pointer
    .slice(1)
    .split("/")
    .map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~"))
}

/** The value at a JSON pointer. Undefined when there is none. */
export function valueAtPointer(value: unknown, steps: readonly string[]): unknown {
  let node = value
  for (const step of steps) {
    if (!has(node, step)) return undefined
    node = node[step]
  }
  return node
}

/** A copy in which the values at the pointers are replaced by a mark. Pointers to nothing are ignored. */
export function redactPointers(value: unknown, pointers: readonly string[], mark: unknown = "[redacted]"): unknown {
  let copy = structuredClone(value)
  for (const pointer of pointers) {
    const steps = parseJsonPointer(pointer)
    if (steps === undefined) continue
    const last = steps.pop()
    if (last === undefined) {
      copy = mark
      continue
    }
    const parent = valueAtPointer(copy, steps)
    if (has(parent, last)) parent[last] = mark
  }
  return copy
}

/** A pointer into an array can name only its elements, not `length`. */
function has(node: unknown, step: string): node is Record<string, unknown> {
  if (typeof node !== "object" || node === null || !Object.hasOwn(node, step)) return false
  return !Array.isArray(node) || /^(0|[1-9]\d*)$/.test(step)
}
