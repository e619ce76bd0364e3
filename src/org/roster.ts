import type { Agent, Department, Freeze, Person, Role } from "../model/organisation.ts"
import type { Sourced } from "../model/organisation-book.ts"
import type { DocumentKind, Documents } from "../model/documents.ts"
import { sources, type Configured } from "./configured.ts"

/** Who there is now: the configuration and the store read as one. Where both name something, the configuration counts. */
export class Roster {
  readonly configured: Configured
  readonly #documents: Documents

  constructor(configured: Configured, documents: Documents) {
    this.configured = configured
    this.#documents = documents
  }

  /**
   * The live role of that id. A stored role whose name the configuration also uses is the configuration's, if a person
   * made it; one that an agent made is nobody's, so that no agent gains by a name.
   */
  role(id: string): Sourced<Role> | undefined {
    const configured = this.configured.roles.get(id)
    if (configured !== undefined) return configured
    const stored = this.#stored<Role>("role", id)
    if (stored === undefined || stored.status !== "active") return undefined
    const cover = this.#cover(stored)
    if (cover === undefined) return stored
    return stored.madeBy === "person" && cover.source === sources.configuration ? cover : undefined
  }

  /** The live role of that id, else of that name. */
  roleCalled(idOrName: string): Sourced<Role> | undefined {
    return (
      this.configured.roleWords.get(idOrName) ??
      this.role(idOrName) ??
      this.roles().find((role) => role.status === "active" && role.name === idOrName)
    )
  }

  /** Live ones by name, then deleted ones by name. */
  roles(): Sourced<Role>[] {
    const stored = this.#all<Role>("role").filter((role) => this.#cover(role) === undefined)
    return byName([...this.configured.roles.values(), ...stored])
  }

  /** Also one that was terminated. */
  agent(id: string): Sourced<Agent> | undefined {
    return this.configured.agents.get(id) ?? this.#stored<Agent>("agent", id)
  }

  /** Also those that were terminated, in the order of their ids. */
  agents(): Sourced<Agent>[] {
    const stored = this.#all<Agent>("agent").filter(({ id }) => !this.configured.agents.has(id))
    return [...this.configured.agents.values(), ...stored].sort((one, other) => compare(one.id, other.id))
  }

  department(id: string): Sourced<Department> | undefined {
    return this.configured.departments.get(id) ?? live(this.#stored<Department>("department", id))
  }

  departments(): Sourced<Department>[] {
    const stored = this.#all<Department>("department").filter(({ id }) => !this.configured.departments.has(id))
    return byName([...this.configured.departments.values(), ...stored]).filter(isLive)
  }

  person(id: string): Sourced<Person> | undefined {
    return this.configured.people.get(id) ?? live(this.#stored<Person>("person", id))
  }

  people(): Sourced<Person>[] {
    const stored = this.#all<Person>("person").filter(({ id }) => !this.configured.people.has(id))
    return byName([...this.configured.people.values(), ...stored]).filter(isLive)
  }

  freeze(id: string): Freeze | undefined {
    const document = this.#documents.get("freeze", id)
    return document?.live === true ? (document.body as Freeze) : undefined
  }

  /** The role of the configuration that has one of this role's words. */
  #cover({ id, name }: Role): Sourced<Role> | undefined {
    return this.configured.roleWords.get(id) ?? this.configured.roleWords.get(name)
  }

  #stored<T>(kind: DocumentKind, id: string): Sourced<T> | undefined {
    const document = this.#documents.get(kind, id)
    return document && { ...(document.body as T), source: sources.store }
  }

  #all<T>(kind: DocumentKind): Sourced<T>[] {
    return Array.from(this.#documents.all(kind), ({ body }) => ({ ...(body as T), source: sources.store }))
  }
}

function isLive({ status }: { status: string }): boolean {
  return status === "active"
}

function live<T extends { status: string }>(found: T | undefined): T | undefined {
  return found !== undefined && isLive(found) ? found : undefined
}

function byName<T extends { id: string; name: string; status: string }>(list: T[]): T[] {
  const rank = (one: T) => (isLive(one) ? 0 : 1)
  return list.sort(
    (one, other) => rank(one) - rank(other) || compare(one.name, other.name) || compare(one.id, other.id),
  )
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
