import { useState } from "react"
import { Link } from "@tanstack/react-router"
import { problemOf, remove } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { CopyText } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Marked } from "../ui/marked.tsx"
import { useTell } from "../ui/notices.tsx"
import { useWords } from "../words/words.tsx"
import { FiveMinutes } from "./five-minutes.tsx"

const steps = ["resolve", "visible", "validate", "allowed", "approve", "run", "release"] as const

/** Nothing waits: what comes here, what every call goes through, and how to bring an agent. */
export function First() {
  const words = useWords()
  const { sample } = useMe()
  const { first } = words
  const commands = [
    [first.mcp, "qm install claude"],
    [first.typescript, 'app.toolsFor("dev")'],
    [first.terminal, "qm chat --agent dev"],
  ] as const
  return (
    <div className="scroll first" tabIndex={0} role="group" aria-label={first.title}>
      {sample && <Sample />}
      <div className="first-b">
        <header>
          <h2 className="first-t">{first.title}</h2>
          <p>{first.more}</p>
        </header>
        <figure className="seven" aria-label={first.steps}>
          {steps.map((step) => (
            <div key={step} className={step === "approve" || step === "release" ? "sv sv-p" : "sv"}>
              <i />
              <b>{step}</b>
              <span>{first.step[step]}</span>
            </div>
          ))}
          <figcaption>{first.stepsMore}</figcaption>
        </figure>
        <FiveMinutes />
        <section className="own">
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

/** Says that this is the sample, and removes it. */
export function Sample() {
  const words = useWords()
  const tell = useTell()
  const { scopes } = useMe()
  const [busy, setBusy] = useState(false)
  const removeSample = async () => {
    setBusy(true)
    try {
      await remove("/v1/sample")
      tell({ icon: "check", text: words.first.sampleRemoved, ms: 12_000 })
      await queries.invalidateQueries()
    } catch (error) {
      tell({ icon: "alert-triangle", text: problemOf(error).detail, ms: 12_000 })
    } finally {
      setBusy(false)
    }
  }
  return (
    <div className="sample">
      <Icon name="flask" />
      <p className="grow">
        <Marked text={words.first.sample} />
      </p>
      <Link className="btn btn-s" to="/tools" search={{ agent: "dev" }}>
        {words.first.tryCall}
      </Link>
      {scopes.includes("manage") && (
        <button type="button" className="btn btn-s" disabled={busy} onClick={() => void removeSample()}>
          {words.first.removeSample}
        </button>
      )}
    </div>
  )
}
