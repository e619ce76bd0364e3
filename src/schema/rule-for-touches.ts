import { posix } from "node:path"
import { isPath, type Touch, type Touches } from "../core/touches.ts"
import { readTouchPattern, touchText } from "./rule-patterns.ts"

/**
 * The patterns of an allow rule that covers a call with these touches and as little more as possible: each path and host as
 * it is, each command by `stemOf`. Undefined where no rule can: nothing is touched, or it is not proved what.
 */
export function patternsFor(
  { list, proved }: Touches,
  workspace: string,
  stemOf: (command: string) => string | undefined,
): readonly string[] | undefined {
  const named = list.filter(({ derived }) => derived !== true)
  if (!proved || named.length === 0) return undefined
  // Files that a command writes need not be named by a rule, so that only the exact line keeps it to these files.
  const writes = list.some(({ kind, derived }) => derived === true && kind === "write")
  const patterns = named.flatMap((touch) => patternsOf(touch, workspace, writes ? () => undefined : stemOf))
  const unique = [...new Set(patterns)]
  return unique.some((pattern) => pattern === "" || "mistake" in readTouchPattern(pattern, true)) ? undefined : unique
}

/** An empty text for a touch that no pattern is certain to mean. */
function patternsOf(touch: Touch, workspace: string, stemOf: (command: string) => string | undefined): string[] {
  const { kind, what } = touch
  // It would cover every statement.
  if (kind === "database") return [""]
  if (isPath(kind)) return [pathPattern(kind, what, posix.resolve(workspace))]
  const stem = kind === "command" ? stemOf(what) : undefined
  if (stem === undefined) return [`${kind}:${literal(touchText(touch))}`]
  return [`${kind}:${literal(stem)}`, `${kind}:${literal(stem)} *`]
}

function pathPattern(kind: Touch["kind"], what: string, workspace: string): string {
  const path = posix.resolve(workspace, what)
  const isInside = path === workspace || path.startsWith(workspace.endsWith("/") ? workspace : `${workspace}/`)
  if (what.includes("\0") || /[~$\\]/.test(what) || (!isInside && what.split("/").includes(".."))) return ""
  return `${kind}:${literal(isInside ? posix.relative(workspace, path) || "." : path)}`
}

/** The text as a pattern that matches nothing else. */
function literal(text: string): string {
  return text.replace(/[*?[\]{}\\]/g, String.raw`\$&`)
}
