import type { ReactNode } from "react"
import { useWords } from "../words/words.tsx"
import type { StepName, Tick } from "./ticks.ts"

const marks: Readonly<Record<Tick | "record", string>> = {
  done: "st-d",
  skipped: "st-s",
  waiting: "st-a hatch",
  running: "st-d st-run",
  held: "st-h",
  no: "st-x",
  refused: "st-x",
  failed: "st-f",
  open: "",
  record: "st-r",
}

interface StepProps {
  readonly name: StepName | "record"
  readonly tick: Tick | "record" | "asked"
  readonly time?: string
  readonly children?: ReactNode
}

/** One step of a call: its name, what it is for, how long it took, and what happened in it. */
export function Step({ name, tick, time, children }: StepProps) {
  const words = useWords()
  return (
    <li className={`step ${tick === "asked" ? "st-a" : marks[tick]}`}>
      <i className="step-m" />
      <div className="step-b">
        <h3 className="step-h">
          <b>{name}</b>
          <small>{words.steps.about[name]}</small>
          <span className="vh">{words.steps.tick[tick]}</span>
          <span className="grow" />
          {time !== undefined && <time className="num">{time}</time>}
        </h3>
        {children}
      </div>
    </li>
  )
}
