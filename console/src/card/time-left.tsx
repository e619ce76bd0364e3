import { useServerTime } from "../api/clock.ts"
import { Ring } from "../ui/ring.tsx"
import { leftText, spanText } from "../words/time-text.ts"
import { useWords } from "../words/words.tsx"

const soon = 120_000

/** The time left in a list: a number that turns amber under two minutes. */
export function ShortTimeLeft({ until }: { until: number }) {
  const words = useWords()
  const left = until - useServerTime()
  return <span className={left < soon ? "row-r soon" : "row-r"}>{leftText(left, words)}</span>
}

/** The time left of a card, by the server's clock. Screen readers hear it at two minutes and at thirty seconds only. */
export function TimeLeft({ createdAt, until }: { createdAt: number; until: number }) {
  const words = useWords()
  const left = until - useServerTime()
  const step = [30_000, soon].find((each) => left > 0 && left <= each)
  return (
    <span className={left < soon ? "left left-soon" : "left"} data-left={Math.max(0, Math.ceil(left / 1000))}>
      <Ring share={left / Math.max(1, until - createdAt)} />
      {left > 0 ? words.time.left(leftText(left, words)) : words.time.over}
      <span className="vh" role="status">
        {step !== undefined && words.time.left(spanText(step, words))}
      </span>
    </span>
  )
}
