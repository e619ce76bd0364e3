import { useQuery } from "@tanstack/react-query"
import { Link } from "@tanstack/react-router"
import { useState } from "react"
import { printable } from "../../../src/lib/printable.ts"
import { problemOf } from "../api/http.ts"
import { queries } from "../api/live.ts"
import { useMe } from "../api/queries.ts"
import { CopyButton } from "../ui/copy-text.tsx"
import { Icon } from "../ui/icon.tsx"
import { Loading } from "../ui/loading.tsx"
import { Gone } from "../ui/gone.tsx"
import { Marked } from "../ui/marked.tsx"
import { useTell } from "../ui/notices.tsx"
import { useProblemText } from "../words/problem-text.ts"
import { dateText, momentText } from "../words/time-text.ts"
import { useLanguage, useWords } from "../words/words.tsx"
import { draftOfShown, ruleOf } from "./draft.ts"
import { flawText } from "./flaw-text.ts"
import { removeRule, ruleQuery } from "./queries.ts"
import { Recorded, RuleEditor } from "./rule-editor.tsx"
import { matchText, verdictClass } from "./rule-text.ts"
import look from "./rules.module.css"

interface Props {
  readonly id: string
  readonly close: () => void
  readonly open: (id: string) => void
}

/** One rule: what it says, where it stands, what is wrong with it. A rule of the store can be changed and removed. */
export function RulePane({ id, close, open }: Props) {
  const words = useWords()
  const text = words.govern.rules
  const { language } = useLanguage()
  const tell = useTell()
  const problem = useProblemText()
  const query = useQuery(ruleQuery(id))
  const { data: rule } = query
  const manages = useMe().scopes.includes("manage")
  const [editing, setEditing] = useState(false)
  const [asked, setAsked] = useState(false)
  const isGone = query.error !== null && problemOf(query.error).status === 404
  if (rule === undefined) return <section className={look["pane"]}>{<Loading of={query} lines={3} />}</section>
  if (editing)
    return (
      <RuleEditor
        begin={draftOfShown(rule)}
        stored={{ id, revision: rule.revision ?? "" }}
        isGone={isGone}
        close={() => setEditing(false)}
        saved={(next) => {
          setEditing(false)
          open(next)
        }}
      />
    )
  const end = () =>
    removeRule(id).then(
      () => {
        void queries.invalidateQueries({ queryKey: ["rules"] })
        tell({ icon: "check", text: text.removed, ms: 8000 })
        close()
      },
      (error: unknown) => tell({ icon: "alert-triangle", text: problem(error), ms: 15_000 }),
    )
  return (
    <section className={look["pane"]} aria-labelledby="rule-t" data-pane={id}>
      <div className={`scroll ${look["body"]}`} tabIndex={0} role="group" aria-label={text.rules}>
        <header className="card-h">
          <Link to="/rules" className="ib phone-only" aria-label={text.rules}>
            <Icon name="chevron-left" />
          </Link>
          <h2 id="rule-t">
            <span className={verdictClass(rule.verdict)}>{text.verdict[rule.verdict]}</span>{" "}
            <code>{printable(rule.tool)}</code>
          </h2>
          <div className="facts">
            <span>{printable(matchText(rule, words))}</span>
          </div>
        </header>
        {isGone && <Gone text={text.goneMeanwhile} />}
        <p>{printable(rule.because)}</p>
        {rule.flaws.map(({ kind, sentence }) => (
          <p key={sentence} className="strip strip-in strip-ask">
            <Icon name="alert-triangle" />
            <span>
              <b>{text.flaw[kind]}.</b> {flawText(sentence, language)}
            </span>
          </p>
        ))}
        {rule.shadow === true && <p className="hint">{text.shadowMore}</p>}
        <dl className="kv">
          <dt>{text.days}</dt>
          <dd>{rule.shadow === true ? text.wouldDecide(rule.decided) : text.decided(rule.decided)}</dd>
          <dt>{text.source}</dt>
          <dd>
            <code>{rule.source}</code>
            {rule.addedBy !== undefined && <> · {text.addedBy(printable(rule.addedBy))}</>}
            {rule.addedAt !== undefined && <> · {dateText(rule.addedAt, language, true)}</>}
          </dd>
          {rule.expiresAt !== undefined && (
            <>
              <dt>{text.ends}</dt>
              <dd>{momentText(Date.parse(rule.expiresAt), language)}</dd>
            </>
          )}
        </dl>
        {rule.shadow === true && (
          <Recorded rule={ruleOf({ ...draftOfShown(rule), shadow: false })} without={id} begins />
        )}
        <section>
          <h3 className="h3">{text.aboutTools(rule.tools.length)}</h3>
          <p className={look["tools"]}>
            {rule.tools.slice(0, 60).map((tool) => (
              <code key={tool} className="tag">
                {printable(tool)}
              </code>
            ))}
            {rule.tools.length > 60 && <span className="dim">{text.more(rule.tools.length - 60)}</span>}
          </p>
        </section>
        <section>
          <h3 className={`h3 ${look["row"]}`}>
            <span className="grow">{text.copyYaml}</span>
            <CopyButton text={rule.yaml} />
          </h3>
          <pre className="plain">{printable(rule.yaml)}</pre>
        </section>
      </div>
      <footer className={look["bar"]}>
        <p className="grow dim">
          {rule.stored
            ? !manages && <Marked text={text.mayNot} />
            : rule.source === "built in"
              ? text.builtIn
              : text.inFile}
        </p>
        {rule.stored && manages && (
          <>
            <button
              type="button"
              className="btn"
              onClick={() => (asked ? void end() : setAsked(true))}
              onBlur={() => setAsked(false)}
            >
              {asked ? words.people.really(text.remove) : text.remove}
            </button>
            <button type="button" className="btn btn-p" disabled={isGone} onClick={() => setEditing(true)}>
              {text.edit}
            </button>
          </>
        )}
      </footer>
    </section>
  )
}
