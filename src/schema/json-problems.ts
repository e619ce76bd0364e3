import { parameterProblem, pathText } from "./problems.ts"

const deepest = 100
const most = 1_000_000

/** Why a value cannot be used as JSON: cycles, depth, functions, class instances, NaN, the key `__proto__`. */
export function plainProblems(value: unknown): string[] {
  const problems: string[] = []
  let parts = 0
  const path: PropertyKey[] = []
  const report = (problem: string) => void problems.push(parameterProblem(pathText(path), problem))

  const visit = (node: unknown): void => {
    if (problems.length >= 20) return
    switch (typeof node) {
      case "string":
      case "boolean":
      case "undefined":
        return
      case "number":
        if (!Number.isFinite(node)) report(`expected a finite number, got ${node}`)
        return
      case "object":
        break
      default:
        return report(`must be JSON data, got a ${typeof node}`)
    }
    if (node === null) return
    if (path.length >= deepest) return report(`is nested deeper than ${deepest} levels or contains itself`)
    if (++parts > most) {
      if (parts === most + 1) report(`has more than ${most} parts`)
      return
    }
    if (Array.isArray(node)) {
      if (node.length > most) return report(`has more than ${most} parts`)
      for (let index = 0; index < node.length; index++) {
        path.push(index)
        visit(node[index])
        path.pop()
      }
      return
    }
    const prototype: unknown = Object.getPrototypeOf(node)
    if (prototype !== Object.prototype && prototype !== null) return report("must be a plain JSON object")
    for (const key of Object.keys(node)) {
      path.push(key)
      if (key === "__proto__") report("has a name that is not allowed")
      else visit((node as Record<string, unknown>)[key])
      path.pop()
    }
  }

  visit(value)
  return problems
}
