import type { Command } from "commander"
import type { Run, Session } from "./house.ts"
import { jsonText, tell } from "./output.ts"

export function addTrust(program: Command, run: Run): void {
  program.command("trust [file]").description("let a configuration file count in full, as it is now").action(run(trust))
}

/** Shows what a configuration file would be allowed to do, then trusts it as it is now. */
async function trust(session: Session, file: string | undefined): Promise<number> {
  const { house, flags } = session
  const { pin, ...examined } = await house.examine(file ?? flags.config)
  const allows =
    examined.allows.length === 0
      ? ["It says nothing that an untrusted file could not say."]
      : ["From now on this counts:", ...examined.allows.map((line) => `  ${line}`)]
  const files = examined.files.map(({ file: path, sha256 }) => `${path}\n  SHA-256 ${sha256}`)
  if (!flags.json) tell(session, house.printable([...files, ...allows].join("\n")))
  pin()
  tell(
    session,
    flags.json ? jsonText(examined, house) : "Trusted. One changed byte ends it; then run 'qm trust' again.",
  )
  return 0
}
