import { readdirSync } from "node:fs"
import { join } from "node:path"
import { sealedBecause } from "../../policy/paths-lists.ts"
import type { Seal } from "./seals.ts"

/**
 * What is sealed in a writable folder by its name alone. What git runs programs from is sealed in detail, because git
 * itself must work; all else as a whole. Absent folders are held by an empty one meanwhile. Absent files are not: `git
 * add` would take what stands in for them for work.
 */
export function sealsByName(root: string): { seals: Seal[]; hidden: string[] } {
  const names = namesIn(root).filter((name) => name !== ".git")
  const hidden = names.filter((name) => sealedBecause(name, "read") !== undefined)
  const sealed = names.filter((name) => !hidden.includes(name) && sealedBecause(name, "write") !== undefined)
  return {
    seals: [
      ...gitSeals(root),
      ...sealed.map((name) => ({ path: join(root, name) })),
      ...absentFolders.filter((name) => !names.includes(name)).map((name) => ({ path: `${join(root, name)}/` })),
    ],
    hidden: hidden.map((name) => join(root, name)),
  }
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
    ...["config.worktree", "modules/", "worktrees/"].map((name) => ({ path: inGit(name), meanwhile: null })),
  ]
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
