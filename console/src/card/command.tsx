import type { Preview } from "../../../src/approvals/card/schema.ts"
import { printable } from "../../../src/lib/printable.ts"
import { Icon } from "../ui/icon.tsx"
import { useSay } from "../words/words.tsx"

type Command = Extract<Preview, { kind: "command" }>

const markClass = { none: "part", ask: "part part-ask", deny: "part part-bad" } as const

/** The whole command in its parts, a line each, wrapped and never cut. */
export function CommandParts({ command: { parts, command, details } }: { command: Command }) {
  const say = useSay()
  const shown = parts.length > 0 ? parts : [{ operator: "", text: command, mark: "none" as const, notes: [] }]
  return (
    <div className="cmd">
      {shown.map((part, at) => (
        <div key={`${at}`} className={markClass[part.mark]}>
          <span className="part-n">{at + 1}</span>
          <div>
            <pre>
              {part.operator !== "" && <span className="c-o">{part.operator} </span>}
              <CommandWords text={printable(part.text)} />
            </pre>
            {part.notes.map((note) => (
              <p key={note.text}>
                {part.mark !== "none" && <Icon name="alert-triangle" />}
                {say(note)}
              </p>
            ))}
          </div>
        </div>
      ))}
      {details.length > 0 && (
        <ul className="cmd-d">
          {details.map((line) => (
            <li key={line.text}>{printable(say(line))}</li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** The program bold, addresses in another colour. Only a help for the eye: nothing is left out or put in order. */
function CommandWords({ text }: { text: string }) {
  let named = false
  return text.split(/(\s+)/).map((word, at) => {
    const key = `${at}`
    if (/^\s*$/.test(word)) return word
    if (!named && !/^\w+=/.test(word)) {
      named = true
      return (
        <b key={key} className="c-p">
          {word}
        </b>
      )
    }
    const name = /^\w+:\/\//.test(word) ? "c-u" : word.startsWith("-") ? "c-f" : "c-a"
    return (
      <span key={key} className={name}>
        {word}
      </span>
    )
  })
}
