import type { Command } from "commander"
import type { Run, Session } from "./house.ts"
import { answer } from "./output.ts"

export function addInit(program: Command, run: Run): void {
  program.command("init").description("write a configuration file here and trust it").action(run(init))
}

/** Writes a first configuration, trusted, and says what to do with it. */
async function init(session: Session): Promise<number> {
  const written = await session.house.writeInitialConfig(session.io.cwd)
  const lines = [
    `Wrote ${written.file} and trusted it.`,
    `Wrote ${written.schemaFile}, with which editors complete and check it.`,
    "",
    "Next:",
    "  edit the file         every key is there, with its default or an example",
    "  qm trust              after each change; until then only what tightens counts",
    "  qm tools list         what the agents can use",
    "  qm call current_time  call a tool",
  ]
  answer(session, written, lines.join("\n"))
  return 0
}
