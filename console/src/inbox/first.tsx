import { useMe } from "../api/queries.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { useWords } from "../words/words.tsx"

const steps = ["resolve", "visible", "validate", "allowed", "approve", "run", "release"] as const

/** Nothing waits: what comes here, what every call goes through, and how to bring an agent. */
export function First() {
  const words = useWords()
  const { sample } = useMe()
  return (
    <div className="scroll first" tabIndex={0} role="group" aria-label={words.first.title}>
      {sample && (
        <div className="sample">
          <Icon name="flask" />
          <p className="grow">
            <Marked text={words.first.sample} />
          </p>
        </div>
      )}
      <div className="first-b">
        <header>
          <h1>{words.first.title}</h1>
          <p>{words.first.more}</p>
        </header>
        <figure className="seven" aria-label={words.first.steps}>
          {steps.map((step) => (
            <div key={step} className={step === "approve" || step === "release" ? "sv sv-p" : "sv"}>
              <i />
              <b>{step}</b>
              <span>{words.first.step[step]}</span>
            </div>
          ))}
          <figcaption>{words.first.stepsMore}</figcaption>
        </figure>
        <section className="own">
          <h2>{words.first.own}</h2>
          <dl>
            {(
              [
                [words.first.mcp, "qm install claude"],
                [words.first.typescript, 'qm.toolsFor("dev")'],
                [words.first.terminal, "qm chat --agent dev"],
              ] as const
            ).map(([label, command]) => (
              <div key={command}>
                <dt>{label}</dt>
                <dd>
                  <CopyText text={command} />
                </dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </div>
  )
}
