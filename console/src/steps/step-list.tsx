import type { ReactNode } from "react"
import { useWords } from "../words/words.tsx"
import type { StepName, Tick } from "./ticks.ts"
import look from "./steps.module.css"

const marks: Readonly<Record<Tick | "record", string | undefined>> = {
  done: look["st-d"],
  skipped: look["st-s"],
  waiting: `${look["st-a"]} hatch`,
  running: `${look["st-d"]} ${look["st-run"]}`,
  held: look["st-h"],
  no: look["st-x"],
  refused: look["st-x"],
  failed: look["st-f"],
  open: "",
  record: look["st-r"],
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
    <li className={`${look["step"]} ${tick === "asked" ? look["st-a"] : marks[tick]}`}>
      <i className={look["step-m"]} />
      <div className={look["step-b"]}>
        <h3 className={look["step-h"]}>
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
