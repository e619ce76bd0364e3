/**
 * Whether git takes a folder with these names in it for a repository, whatever its own name is, and does what its settings
 * say for whoever stands in it. What is behind the names is not looked at: it could be put right later. Letter case makes no
 * difference, because on some disks it does not.
 */
export function looksLikeRepository(names: Iterable<string>): boolean {
  const found = new Set<string>()
  for (const name of names) if (telling.test(name)) found.add(name.toLowerCase())
  return found.has("head") && (found.has("commondir") || (found.has("objects") && found.has("refs")))
}

/** What git reads in a repository and runs, or where that stands. */
export const runningNames = ["commondir", "config", "config.worktree", "hooks", "modules", "worktrees"]

/** Whether git reads from it what it runs, or where that stands. */
export const runsInRepository = (name: string): boolean => running.test(name)

/** Whether a repository has it for that, or is told by it. */
export const isRepositoryPart = (name: string): boolean => running.test(name) || telling.test(name)

const telling = /^(?:head|objects|refs|commondir)$/i
const running = new RegExp(`^(?:${runningNames.join("|").replaceAll(".", "\\.")})$`, "i")
