import { Command } from "commander"

/** A command of `qm`, with what its definition says besides commander's own. */
export class CliCommand extends Command {
  declare readonly parent: CliCommand | null
  declare readonly commands: readonly CliCommand[]
  /** Example lines for its help. */
  readonly examples: string[] = []
  isAllowedInTool = false

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name)
  }

  /** Adds lines to the examples in its help. */
  example(...lines: readonly string[]): this {
    this.examples.push(...lines)
    return this
  }

  /**
   * Lets programs that an agent started use it, and everything below it. It must not answer approvals, grant rights or
   * trust files. Without this, a command is refused inside a tool.
   */
  allowInTool(): this {
    this.isAllowedInTool = true
    return this
  }
}
