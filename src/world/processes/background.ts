import { failure } from "../../model/ending.ts"
import type { BackgroundCommand, CommandOutput, CommandOwner } from "../../model/processes.ts"
import type { Running } from "./command.ts"
import { KeptText } from "./kept-text.ts"

/** How many run at once for one agent, and how many ended ones can still be asked about. */
const mostOfAgent = 32
/** Characters kept of each stream until somebody asks for them; the oldest go first. */
const mostKept = 1024 * 1024

interface Entry {
  readonly id: string
  readonly command: string
  readonly owner: CommandOwner
  readonly startedAt: number
  status: BackgroundCommand["status"]
  exitCode: number | null
  exceeded?: string | undefined
  sealed?: readonly string[] | undefined
  texts: { stdout: KeptText; stderr: KeptText }
  /** Undefined when it could not be started after all. */
  readonly begun: Promise<Running | undefined>
}

/** The commands that run while their agents do other things. Nobody sees those of another agent or task. */
export class Background {
  readonly #entries = new Map<string, Entry>()
  #count = 0

  /** Refuses when the agent has as many as it may. The place counts from here, so that none is taken twice. */
  reserve(
    command: string,
    owner: CommandOwner,
  ): {
    id: string
    add(stream: "stdout" | "stderr", text: string): void
    begin(running: Running): BackgroundCommand
    cancel(): void
  } {
    const theirs = [...this.#entries.values()].filter((entry) => entry.owner.agentId === owner.agentId)
    if (theirs.filter(({ status }) => status === "running").length >= mostOfAgent) {
      throw failure(
        `${mostOfAgent} commands of this agent run in the background already. End one with command_stop first.`,
        {
          toolCode: "too_many_commands",
        },
      )
    }
    const ended = theirs.filter(({ status }) => status !== "running")
    for (const { id } of ended.slice(0, Math.max(0, ended.length - mostOfAgent + 1))) this.#entries.delete(id)
    const id = `command-${++this.#count}`
    let begin!: (running: Running | undefined) => void
    const begun = new Promise<Running | undefined>((resolve) => (begin = resolve))
    const entry: Entry = {
      id,
      command,
      owner,
      startedAt: Date.now(),
      status: "running",
      exitCode: null,
      texts: emptyTexts(),
      begun,
    }
    this.#entries.set(id, entry)
    return {
      id,
      add: (stream, text) => entry.texts[stream].add(text),
      begin: (running) => {
        begin(running)
        void running.over.then(({ exitCode, exceeded, sealed = [] }) => {
          entry.exitCode = exitCode
          if (exceeded !== undefined) {
            entry.exceeded = exceeded.sentence
            entry.texts.stderr.add(`[${exceeded.sentence}]\n`)
          }
          if (sealed.length > 0) entry.sealed = sealed
          if (entry.status === "running")
            entry.status = exitCode === 0 && exceeded === undefined ? "completed" : "failed"
        })
        return shown(entry)
      },
      cancel: () => {
        begin(undefined)
        this.#entries.delete(id)
      },
    }
  }

  output(id: string, owner: CommandOwner): BackgroundCommand & CommandOutput {
    const entry = this.#find(id, owner)
    const { stdout, stderr } = entry.texts
    entry.texts = emptyTexts()
    const printed = { stdout: stdout.text(), stderr: stderr.text() }
    return { ...shown(entry), ...printed, dropped: stdout.dropped + stderr.dropped }
  }

  async stop(id: string, owner: CommandOwner): Promise<BackgroundCommand> {
    const entry = this.#find(id, owner)
    await endEntry(entry)
    return shown(entry)
  }

  list(owner: CommandOwner): BackgroundCommand[] {
    return [...this.#entries.values()].filter((entry) => isOf(entry, owner)).map(shown)
  }

  async endAll(isTheirs: (agentId: string) => boolean = () => true): Promise<void> {
    const theirs = [...this.#entries.values()].filter(({ owner }) => isTheirs(owner.agentId))
    await Promise.all(theirs.map(endEntry))
  }

  #find(id: string, owner: CommandOwner): Entry {
    const entry = this.#entries.get(id)
    if (entry !== undefined && isOf(entry, owner)) return entry
    const ids = this.list(owner).map((one) => one.id)
    const hint = ids.length === 0 ? "There is none in the background." : `There are: ${ids.join(", ")}.`
    throw failure(`There is no command '${id}' here. ${hint}`, { toolCode: "command_not_found" })
  }
}

/** Also one that is about to begin. */
async function endEntry(entry: Entry): Promise<void> {
  if (entry.status !== "running") return
  entry.status = "killed"
  await (await entry.begun)?.end()
}

const isOf = ({ owner }: Entry, asking: CommandOwner) =>
  owner.agentId === asking.agentId && owner.taskId === asking.taskId

const emptyTexts = () => ({
  stdout: new KeptText({ first: 0, last: mostKept }),
  stderr: new KeptText({ first: 0, last: mostKept }),
})

const shown = ({ id, command, startedAt, status, exitCode, exceeded, sealed }: Entry): BackgroundCommand => ({
  id,
  command,
  startedAt,
  status,
  exitCode,
  ...(exceeded === undefined ? {} : { exceeded }),
  ...(sealed === undefined ? {} : { sealed }),
})
