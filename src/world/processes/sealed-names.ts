import { basename, dirname, join } from "node:path"
import { sealedBecause } from "../../policy/paths-lists.ts"
import { isSealedName, type Listing } from "./listing.ts"
import type { Seal } from "./seals.ts"

/**
 * What is sealed in a writable folder by its name alone. What git runs programs from is sealed in detail, because git
 * itself must work; all else as a whole. Absent folders are held by an empty one meanwhile. Absent files are not: `git
 * add` would take what stands in for them for work; they are taken away afterwards. So is a repository that a command may
 * make, unless nothing in it runs.
 */
export function sealsByName(
  root: string,
  { names: seen }: Listing,
  mayMakeRepository = false,
): { seals: Seal[]; hidden: string[] } {
  const all = [...(seen.get(root)?.keys() ?? [])]
  const names = all.filter((name) => name !== ".git")
  const isNew = mayMakeRepository && !all.includes(".git")
  const hidden = names.filter((name) => sealedBecause(name, "read") !== undefined)
  const sealed = names.filter((name) => !hidden.includes(name) && sealedBecause(name, "write") !== undefined)
  return {
    seals: [
      ...(isNew ? [] : gitSeals(root)),
      ...sealed.map((name) => ({ path: join(root, name) })),
      ...absentFolders.filter((name) => !names.includes(name)).map((name) => ({ path: `${join(root, name)}/` })),
    ],
    hidden: hidden.map((name) => join(root, name)),
  }
}

/** The same for what was found below the roots: repositories in the repository, settings of one package, protected paths. */
export function sealsBelow(roots: readonly string[], { marked }: Listing): { seals: Seal[]; hidden: string[] } {
  const seals: Seal[] = []
  const hidden: string[] = []
  for (const path of marked.keys()) {
    const folder = dirname(path)
    const name = basename(path)
    if (!isSealedName(folder, name)) seals.push({ path })
    else if (roots.includes(folder)) continue
    else if (name === ".git") seals.push(...gitSeals(folder))
    else if (sealedBecause(name, "read") !== undefined) hidden.push(path)
    else seals.push({ path })
  }
  return { seals, hidden }
}

/** Folders from which agents, editors and git run something by themselves. */
const absentFolders = [".claude", ".cursor", ".codex", ".gemini", ".vscode", ".idea", ".devcontainer", ".husky"]

/** A text of one dot as `commondir` means what its absence means; another one leads git to a foreign configuration. */
function gitSeals(root: string): Seal[] {
  const inGit = (name: string) => join(root, ".git", name)
  return [
    { path: inGit("hooks/") },
    { path: inGit("config") },
    { path: inGit("commondir"), meanwhile: ".\n" },
    ...["config.worktree", "modules/", "worktrees/"].map((name) => ({ path: inGit(name) })),
  ]
}
