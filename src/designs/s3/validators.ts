import { stat } from "node:fs/promises"
import { resolve } from "node:path"
import { readCommandList } from "../../guards/commands/command-lists.ts"
import { looseCommands } from "../../guards/commands/loose-scan.ts"
import { createPathPolicy } from "../../guards/paths/path-policy.ts"
import { resolveLinks } from "../../guards/paths/resolve-links.ts"
import { SecurityError as CoreSecurityError, ValidationError } from "../../core/errors.ts"

export { ValidationError }

/** The core's error with S3's message alone. */
export class SecurityError extends CoreSecurityError {
  constructor(message: string) {
    super(message)
    this.message = message
  }
}

/** The path policy of the core, for one path. */
export const PathValidator = {
  /** Returns the absolute path. Links are followed before it is compared with the workspace. */
  validate(path: string, workspaceDir: string): string {
    const workspace = resolve(workspaceDir)
    const policy = createPathPolicy({ workspace: resolveLinks(workspace) ?? workspace })
    const absolute = policy.resolve(path)
    const real = typeof absolute === "string" ? policy.realpath(absolute) : undefined
    if (real === undefined || !policy.contains(real)) throw new SecurityError("Path is outside workspace directory")
    return resolve(workspace, path)
  },
}

const allowedCommands = ["ls", "cat", "grep", "find", "git", "npm", "yarn", "node", "python", "pip"]
const commandList = readCommandList(allowedCommands.map((text) => ({ text, source: "S3's list" })))

/** S3's list of commands, compared with every command in a line. */
export const CommandValidator = {
  validate(command: string): void {
    const commands = looseCommands(command)
    const [first = { words: [""] }] = commands
    const refused =
      commands.length === 0 ? first : commands.find(({ words }) => commandList.findMeaning(words) === undefined)
    if (refused !== undefined) throw new SecurityError(`Command '${refused.words[0] ?? ""}' is not allowed`)
  },
}

/** A file must not be larger. */
export const FileSizeValidator = {
  async validate(path: string, maxSize: number): Promise<void> {
    const { size } = await stat(path)
    if (size > maxSize) throw new ValidationError(`File size (${size}) exceeds limit (${maxSize})`)
  },
}
