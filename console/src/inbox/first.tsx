import { useMe } from "../api/queries.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { useWords } from "../words/words.tsx"
import { FiveMinutes } from "./five-minutes.tsx"
import { Sample } from "./sample.tsx"
import look from "./inbox.module.css"

const steps = ["resolve", "visible", "validate", "allowed", "approve", "run", "release"] as const

/** Nothing waits: what comes here, what every call goes through, and how to bring an agent. */
export function First() {
  const words = useWords()
  const { sample } = useMe()
  const { first } = words
  const commands = [
    [first.mcp, "qm install claude"],
    [first.typescript, `app.toolsFor("${sample ? "dev" : "operator"}")`],
    [first.terminal, sample ? "qm chat --agent dev" : "qm chat"],
  ] as const
  return (
    <div className={`scroll ${look["first"]}`} tabIndex={0} role="group" aria-label={first.title}>
      {sample && <Sample />}
      <div className={look["first-b"]}>
        <header>
          <h2 className={look["first-t"]}>{first.title}</h2>
          <p>{first.more}</p>
        </header>
        <figure className={look["seven"]} aria-label={first.steps}>
          {steps.map((step) => (
            <div
              key={step}
              className={step === "approve" || step === "release" ? `${look["sv"]} ${look["sv-p"]}` : look["sv"]}
            >
              <i />
              <b>{step}</b>
              <span>{first.step[step]}</span>
            </div>
          ))}
          <figcaption>{first.stepsMore}</figcaption>
        </figure>
        <FiveMinutes />
        <section className={look["own"]}>
          <h2>{first.own}</h2>
          <dl>
            {commands.map(([label, command]) => (
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
