/** A parsed pattern: whole segments (`undefined` for `:name`), and what follows them. */
export interface PatternShape {
  readonly segments: readonly (string | undefined)[]
  /** Nothing more; `/` and whatever follows; or one more segment that begins with `prefix`, and whatever follows. */
  readonly tail: 'end' | 'below' | 'prefix'
  readonly prefix: string
}

/** A place in the tree, with a value for each way in which a pattern can end there. */
export interface PatternNode<Value> {
  readonly literals: Map<string, PatternNode<Value>>
  param: PatternNode<Value> | undefined
  /** Patterns that end here. */
  end: Value | undefined
  /** Patterns that end here in `/*`. */
  below: Value | undefined
  /** Patterns that end here in `/text*`, by text. */
  readonly prefixes: Map<string, Value>
}

export function createNode<Value>(): PatternNode<Value> {
  return {
    literals: new Map(),
    param: undefined,
    end: undefined,
    below: undefined,
    prefixes: new Map(),
  }
}

/** The shape of a valid pattern. */
export function shapeOf(pattern: string): PatternShape {
  const texts = pattern.split('/').slice(1)
  const last = texts.at(-1) ?? ''
  const segments = texts.map((text) => (text.startsWith(':') ? undefined : text))
  if (!last.endsWith('*')) return { segments, tail: 'end', prefix: '' }
  const prefix = last.slice(0, -1)
  return { segments: segments.slice(0, -1), tail: prefix === '' ? 'below' : 'prefix', prefix }
}

/**
 * Puts what `change` makes of the value that is there, if any, where a pattern ends. Patterns that
 * match the same paths, such as `/a/:id` and `/a/:name`, end in the same place.
 */
export function place<Value>(
  root: PatternNode<Value>,
  { segments, tail, prefix }: PatternShape,
  change: (known: Value | undefined) => Value,
): void {
  let node = root
  for (const segment of segments) node = child(node, segment)
  if (tail === 'end') node.end = change(node.end)
  else if (tail === 'below') node.below = change(node.below)
  else node.prefixes.set(prefix, change(node.prefixes.get(prefix)))
}

/** A tree of all that have a pattern, in their order where several end in the same place. */
export function treeOf<Item>(
  items: readonly Item[],
  patternOf: (item: Item) => string,
): PatternNode<Item[]> {
  const root = createNode<Item[]>()
  for (const item of items) {
    place(root, shapeOf(patternOf(item)), (known = []) => {
      known.push(item)
      return known
    })
  }
  return root
}

function child<Value>(node: PatternNode<Value>, segment: string | undefined): PatternNode<Value> {
  if (segment === undefined) {
    node.param ??= createNode()
    return node.param
  }
  const known = node.literals.get(segment)
  if (known !== undefined) return known
  const made = createNode<Value>()
  node.literals.set(segment, made)
  return made
}

/**
 * Gives `visit` the value of every pattern that alone matches each path which `shape` matches,
 * `shape` itself included if it was placed. What only several patterns cover together is not found.
 */
export function visitCovering<Value>(
  root: PatternNode<Value>,
  shape: PatternShape,
  visit: (value: Value) => void,
): void {
  walkAlong(root, shape, {
    visit,
    atTail(node) {
      if (shape.tail === 'prefix') visitPrefixes(node, shape.prefix, visit)
    },
    // A literal covers only one of the paths that a parameter matches.
    atParameter() {},
  })
}

/** What is found where a shape leaves open what a path has there. */
interface OpenPlaces<Value> {
  readonly visit: (value: Value) => void
  /** Whatever follows the last whole segment. */
  readonly atTail: (node: PatternNode<Value>) => void
  /** One segment that is not empty; `walkOn` goes on behind it. */
  readonly atParameter: (
    node: PatternNode<Value>,
    walkOn: (next: PatternNode<Value>) => void,
  ) => void
}

/** Follows a shape through the tree, along the segments and parameters that match its own. */
function walkAlong<Value>(
  root: PatternNode<Value>,
  { segments, tail }: PatternShape,
  { visit, atTail, atParameter }: OpenPlaces<Value>,
): void {
  const take = (value: Value | undefined) => {
    if (value !== undefined) visit(value)
  }

  function walk(node: PatternNode<Value>, at: number): void {
    if (at === segments.length && tail === 'end') {
      take(node.end)
      return
    }
    // Behind this node the shape has a slash.
    take(node.below)
    if (at === segments.length) {
      atTail(node)
      return
    }
    const segment = segments[at]
    if (segment === undefined) atParameter(node, (next) => walk(next, at + 1))
    else {
      visitPrefixes(node, segment, visit)
      const next = node.literals.get(segment)
      if (next !== undefined) walk(next, at + 1)
    }
    // `:name` matches no empty segment, which a path has behind its last slash.
    if (segment !== '' && node.param !== undefined) walk(node.param, at + 1)
  }

  walk(root, 0)
}

/** Gives `visit` the values of the patterns that end at a node in `/text*`, `segment` beginning so. */
export function visitPrefixes<Value>(
  { prefixes }: PatternNode<Value>,
  segment: string,
  visit: (value: Value) => void,
): void {
  if (prefixes.size === 0) return
  for (let length = 1; length <= segment.length; length++) {
    const value = prefixes.get(segment.slice(0, length))
    if (value !== undefined) visit(value)
  }
}

/** Gives `visit` the value of every pattern that matches at least one path which `shape` matches. */
export function visitOverlapping<Value>(
  root: PatternNode<Value>,
  shape: PatternShape,
  visit: (value: Value) => void,
): void {
  walkAlong(root, shape, {
    visit,
    atTail({ prefixes, literals, param }) {
      const { prefix } = shape
      for (const [text, value] of prefixes) {
        if (text.startsWith(prefix) || prefix.startsWith(text)) visit(value)
      }
      for (const [text, next] of literals) if (text.startsWith(prefix)) visitAll(next, visit)
      if (param !== undefined) visitAll(param, visit)
    },
    atParameter({ prefixes, literals }, walkOn) {
      for (const value of prefixes.values()) visit(value)
      for (const [text, next] of literals) if (text !== '') walkOn(next)
    },
  })
}

function visitAll<Value>(node: PatternNode<Value>, visit: (value: Value) => void): void {
  if (node.end !== undefined) visit(node.end)
  if (node.below !== undefined) visit(node.below)
  for (const value of node.prefixes.values()) visit(value)
  for (const next of node.literals.values()) visitAll(next, visit)
  if (node.param !== undefined) visitAll(node.param, visit)
}
