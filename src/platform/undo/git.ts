import { execFile, type ExecFileException } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

/** A bare repository of ours that looks at a workspace and has its own configuration, index and attributes. */
export interface SnapshotRepository {
  readonly folder: string
  readonly workspace: string
}

/** Nothing of the project's own `.git` is run or changed: its filters, hooks and settings count for nothing here. */
const configuration = `[core]
	repositoryformatversion = 0
	filemode = true
	bare = false
	hooksPath = /dev/null
	fsmonitor = false
	autocrlf = false
	quotePath = false
	untrackedCache = false
[gc]
	auto = 0
`

/** Every file is kept byte for byte, whatever the project's .gitattributes say. */
const attributes = "* -text -eol -ident -filter -diff -merge -working-tree-encoding\n"

/** Makes the repository where there is none yet. Objects that the project has already are not stored again. */
export function openRepository(folder: string, workspace: string): SnapshotRepository {
  if (!existsSync(join(folder, "HEAD"))) {
    for (const part of ["objects/info", "objects/pack", "refs/heads", "info"])
      mkdirSync(join(folder, part), { recursive: true, mode: 0o700 })
    writeFileSync(join(folder, "config"), configuration, { mode: 0o600 })
    writeFileSync(join(folder, "info", "attributes"), attributes, { mode: 0o600 })
    const objects = projectObjects(workspace)
    if (objects !== undefined) writeFileSync(join(folder, "objects", "info", "alternates"), `${objects}\n`)
    const excludes = join(workspace, ".git", "info", "exclude")
    if (existsSync(excludes)) writeFileSync(join(folder, "info", "exclude"), readFileSync(excludes))
    // Last, because it says that everything is there.
    writeFileSync(join(folder, "HEAD"), "ref: refs/heads/none\n", { mode: 0o600 })
  }
  return { folder, workspace }
}

/** Finds the project's folder of objects. Undefined if it cannot be read, or its objects have other names than ours. */
function projectObjects(workspace: string): string | undefined {
  try {
    let folder = join(workspace, ".git")
    if (statSync(folder).isFile()) {
      const line = /^gitdir: (.+)$/m.exec(readFileSync(folder, "utf8"))?.[1]
      if (line === undefined) return undefined
      folder = resolve(workspace, line)
      const common = join(folder, "commondir")
      if (existsSync(common)) folder = resolve(folder, readFileSync(common, "utf8").trim())
    }
    if (/objectformat\s*=\s*sha256/i.test(readFileSync(join(folder, "config"), "utf8"))) return undefined
    return join(folder, "objects")
  } catch {
    return undefined
  }
}

const most = 256 * 1024 * 1024

/** Runs git on the repository, with an environment that names nothing of the user's. */
export function git(repository: SnapshotRepository, words: readonly string[], input?: string): Promise<Buffer> {
  const { folder, workspace } = repository
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    LC_ALL: "C",
    GIT_DIR: folder,
    GIT_WORK_TREE: workspace,
    GIT_INDEX_FILE: join(folder, "index"),
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_NO_LAZY_FETCH: "1",
  }
  return new Promise((done, reject) => {
    const options = { cwd: workspace, env, encoding: "buffer" as const, maxBuffer: most, timeout: 60_000 }
    const child = execFile("git", words, options, (error: ExecFileException | null, stdout, stderr) => {
      if (error === null) done(stdout)
      else reject(new Error(`git ${words[0]} failed: ${stderr.toString("utf8").trim() || error.message}`))
    })
    child.stdin?.on("error", () => {})
    child.stdin?.end(input ?? "")
  })
}
