import { createHash } from "node:crypto"
import { otherwise, pathText } from "./problems.ts"

const deepest = 100
const most = 1_000_000

/** What makes a value unfit to be JSON: cycles, depth, functions, class instances, NaN, keys that reach prototypes. */
export function plainProblems(value: unknown): string[] {
  const problems: string[] = []
  let seen = 0
  const path: PropertyKey[] = []
  const say = (problem: string) => void problems.push(otherwise(pathText(path), problem))

  const walk = (node: unknown): void => {
    if (problems.length >= 20) return
    switch (typeof node) {
      case "string":
      case "boolean":
      case "undefined":
        return
      case "number":
        if (!Number.isFinite(node)) say(`expected a finite number, got ${node}`)
        return
      case "object":
        break
      default:
        return say(`must be JSON data, got a ${typeof node}`)
    }
    if (node === null) return
    if (path.length >= deepest) return say(`is nested deeper than ${deepest} levels or contains itself`)
    if (++seen > most) {
      if (seen === most + 1) say(`has more than ${most} parts`)
      return
    }
    if (Array.isArray(node)) {
      if (node.length > most) return say(`has more than ${most} parts`)
      for (let index = 0; index < node.length; index++) {
        path.push(index)
        walk(node[index])
        path.pop()
      }
      return
    }
    const prototype: unknown = Object.getPrototypeOf(node)
    if (prototype !== Object.prototype && prototype !== null) return say("must be a plain JSON object")
    for (const key of Object.keys(node)) {
      path.push(key)
      if (key === "__proto__") say("has a name that is not allowed")
      else walk((node as Record<string, unknown>)[key])
      path.pop()
    }
  }

  walk(value)
  return problems
}

/** JSON with sorted keys: equal values have equal text. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, node: unknown) => {
    if (typeof node !== "object" || node === null || Array.isArray(node)) return node
    const sorted = Object.create(null) as Record<string, unknown>
    for (const key of Object.keys(node).sort()) sorted[key] = (node as Record<string, unknown>)[key]
    return sorted
  })
}

export function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex")
}
