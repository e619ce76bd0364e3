import { isObject } from "../../../src/lib/is-object.ts"
import { useEffect, useRef, useState } from "react"
import { Icon } from "../ui/icon.tsx"
import { useWords } from "../words/words.tsx"
import { SchemaField, type Described } from "./schema-field.tsx"
import { itemsOf, kindOf, pathOf, type Schema } from "./schema.ts"
import look from "./form.module.css"

interface ValueProps {
  readonly value: unknown
  readonly change: (value: unknown) => void
}

/** A number as it is typed. What is none is sent as it is, and the server says what is wrong with it. */
export function NumberField({
  value,
  change,
  placeholder,
  ...described
}: ValueProps & Described & { placeholder: string }) {
  const [typed, setTyped] = useState("")
  const shown = typeof value === "number" ? (Number(typed) === value ? typed : String(value)) : String(value ?? "")
  return (
    <input
      {...described}
      className="in mono"
      inputMode="decimal"
      placeholder={placeholder}
      value={shown}
      onChange={({ target }) => {
        setTyped(target.value)
        const isNumber = target.value.trim() !== "" && Number.isFinite(Number(target.value))
        change(target.value === "" ? undefined : isNumber ? Number(target.value) : target.value)
      }}
    />
  )
}

/** Any value as JSON. While it is none, the form that it is in cannot be sent. */
export function JsonField({ value, change, rows = 3, ...described }: ValueProps & Described & { rows?: number }) {
  const words = useWords()
  const area = useRef<HTMLTextAreaElement>(null)
  const [typed, setTyped] = useState<string>()
  const [isWrong, setIsWrong] = useState(false)
  const printed = value === undefined ? "" : JSON.stringify(value, null, 2)
  useEffect(() => {
    area.current?.setCustomValidity(isWrong ? words.answer.badJson : "")
  }, [isWrong, words])
  return (
    <>
      <textarea
        {...described}
        {...(isWrong ? { "aria-invalid": true } : {})}
        ref={area}
        className={`in mono ${look["sf-text"]}`}
        rows={rows}
        spellCheck={false}
        value={typed ?? printed}
        onChange={({ target }) => {
          setTyped(target.value)
          const read = readJson(target.value)
          setIsWrong(read === undefined)
          if (read !== undefined) change(read.value)
        }}
        onBlur={() => !isWrong && setTyped(undefined)}
      />
      {isWrong && <span className="hint sf-wrong">{words.answer.badJson}</span>}
    </>
  )
}

function readJson(text: string): { value: unknown } | undefined {
  if (text.trim() === "") return { value: undefined }
  try {
    return { value: JSON.parse(text) as unknown }
  } catch {
    return undefined
  }
}

interface ListProps extends ValueProps {
  readonly schema: Schema
  readonly path: string
  readonly problems: Readonly<Record<string, string>>
}

/** A list: a field for each element, to add and to take away. */
export function ListField({ schema, value, change, path, problems }: ListProps) {
  const words = useWords()
  const items = itemsOf(schema)
  const list: readonly unknown[] = Array.isArray(value) ? value : []
  const put = (next: readonly unknown[]) => change(next.length === 0 ? undefined : next)
  const first = { object: {}, list: [], boolean: false, number: undefined, choice: undefined }
  return (
    <div className={look["sf-list"]}>
      {list.map((element, at) => (
        // Elements have no name but their place.
        <div className={look["sf-item"]} key={pathOf(path, at)}>
          <SchemaField
            label={String(at + 1)}
            path={pathOf(path, at)}
            schema={items}
            required={true}
            value={element}
            change={(next) => put(list.map((one, index) => (index === at ? next : one)))}
            problems={problems}
          />
          <RemoveButton name={String(at + 1)} remove={() => put(list.filter((_, index) => index !== at))} />
        </div>
      ))}
      <AddButton
        label={words.form.add}
        add={() => {
          const kind = kindOf(items)
          put([...list, kind in first ? first[kind as keyof typeof first] : ""])
        }}
      />
    </div>
  )
}

/** An object of texts by names that are free, such as environment variables. */
export function MapField({ value, change }: ValueProps) {
  const words = useWords()
  const entries = Object.entries(isObject(value) ? value : {})
  const put = (next: readonly (readonly [string, unknown])[]) =>
    change(next.length === 0 ? undefined : Object.fromEntries(next))
  return (
    <div className={look["sf-list"]}>
      {entries.map(([name, text], at) => (
        <div className={look["sf-pair"]} key={pathOf("", at)}>
          <input
            className="in mono"
            aria-label={words.form.name}
            value={name}
            onChange={({ target }) => put(entries.map((entry, index) => (index === at ? [target.value, text] : entry)))}
          />
          <input
            className="in mono"
            aria-label={words.form.valueOf(name)}
            value={String(text)}
            onChange={({ target }) => put(entries.map((entry, index) => (index === at ? [name, target.value] : entry)))}
          />
          <RemoveButton name={name} remove={() => put(entries.filter((_, index) => index !== at))} />
        </div>
      ))}
      {!entries.some(([name]) => name === "") && (
        <AddButton label={words.form.add} add={() => put([...entries, ["", ""]])} />
      )}
    </div>
  )
}

function AddButton({ label, add }: { label: string; add: () => void }) {
  return (
    <button type="button" className={`btn btn-s btn-q ${look["sf-more"]}`} onClick={add}>
      <Icon name="plus" small />
      {label}
    </button>
  )
}

function RemoveButton({ name, remove }: { name: string; remove: () => void }) {
  const words = useWords()
  const label = words.form.remove(name)
  return (
    <button type="button" className="ib" aria-label={label} title={label} onClick={remove}>
      <Icon name="x" small />
    </button>
  )
}
