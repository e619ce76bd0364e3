import type { Finding, GuardCheckOptions } from "../../core/guard.ts"
import type { Touch } from "../../core/touches.ts"
import { resolveIn } from "./disk.ts"
import { askFinding, withCommand } from "./findings.ts"
import type { CommandContext } from "./command-context.ts"
import { pathsIn } from "./named-files.ts"
import { programOf } from "./programs.ts"
import type { ScanResult } from "./scan-result.ts"

/** A script that names more paths asks as a whole. */
const maxPaths = 2000

interface NamedPath {
  readonly path: string
  readonly by: readonly string[]
  readonly isWritten: boolean
}

/**
 * Asks for each confirmed or protected path that an unproved script visibly names. Paths that it names invisibly are hidden
 * or read-only in the sandbox.
 */
export function findConfirmedPaths(
  scan: ScanResult,
  folders: readonly string[],
  context: CommandContext,
  call: GuardCheckOptions,
): Finding[] {
  const named = [...scan.commands.flatMap(({ words }) => namedBy(words)), ...redirectedPaths(scan)]
  const unique = [...new Map(named.map((entry) => [`${entry.isWritten} ${entry.path}`, entry])).values()]
  if (unique.length > maxPaths)
    return [askFinding("commands", "command_too_long", {}, "It names too many paths to check each.")]
  const findings = unique.flatMap(({ path, by, isWritten }) =>
    folders.flatMap((folder) => {
      const what = path.startsWith("~") ? path : resolveIn(folder, path, context.disk)
      const kinds: Touch["kind"][] = isWritten && !isFolder(what, context) ? ["read", "write"] : ["read"]
      const results = context.paths(kinds.map((kind) => ({ kind, what })), call).findings // prettier-ignore
      return results.filter(needsConfirmation).map((finding) => withCommand(asAsk(finding), by))
    }),
  )
  return [...new Map(findings.map((finding) => [finding.reason.sentence, finding])).values()]
}

/** Protected paths ask too; a proved script would be denied. Paths outside do not count: the sandbox does not show them. */
function needsConfirmation({ verdict, code }: Finding): boolean {
  return verdict === "ask" || code === "permission_denied"
}

const asAsk = ({ reason }: Finding): Finding =>
  askFinding(reason.source, reason.code, reason.params ?? {}, reason.sentence)

function namedBy(words: readonly string[]): NamedPath[] {
  const [program = "", ...args] = words
  const use = programOf(program)?.(args.map((value) => ({ value, glob: -1 })))
  // Files that the program writes are among its arguments too.
  const isWritten = use === undefined || "because" in use || (use.writes ?? []).length > 0
  return args.flatMap(pathsIn).map((path) => ({ path, by: words, isWritten }))
}

function redirectedPaths({ redirects }: ScanResult): NamedPath[] {
  return redirects
    .filter(({ operator }) => !operator.startsWith("<<"))
    .flatMap(({ operator, target }) =>
      pathsIn(target).map((path) => ({ path, by: [`${operator} ${target}`], isWritten: operator.includes(">") })),
    )
}

/** Files in a folder are not checked one by one: the sandbox protects them while the command runs. */
function isFolder(path: string, { disk }: CommandContext): boolean {
  return disk.realpath(path) !== undefined && !disk.isFile(path)
}
