import { useData } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'

let drawn = 0

/** Mermaid measures text on the page: here it does so unseen, in the styles of the finished diagram. */
async function svgOf(source, dark) {
  const { default: mermaid } = await import('mermaid')
  mermaid.initialize({
    startOnLoad: false,
    theme: dark ? 'dark' : 'neutral',
    fontFamily: 'inherit',
    securityLevel: 'strict',
    flowchart: { useMaxWidth: false },
  })
  const container = document.createElement('div')
  container.className = 'diagram drawing'
  document.body.append(container)
  try {
    drawn += 1
    return (await mermaid.render(`diagram-${drawn}`, source, container)).svg
  } finally {
    container.remove()
  }
}

/** A mermaid block. The library is loaded by the pages that have one; without scripts, the source remains. */
export const Diagram = defineComponent({
  props: { source: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData()
    const source = decodeURIComponent(props.source)
    const svg = ref('')
    const waiting = ref(false)

    async function draw() {
      const dark = isDark.value
      waiting.value = true
      try {
        const result = await svgOf(source, dark)
        if (dark === isDark.value) svg.value = result
      } finally {
        waiting.value = false
      }
    }

    onMounted(draw)
    watch(isDark, draw)

    return () => {
      if (svg.value === '') {
        return h('pre', { class: ['diagram-source', { waiting: waiting.value }] }, source)
      }
      const width = Math.ceil(Number(/viewBox="\S+ \S+ (\S+)/.exec(svg.value)?.[1] ?? 0))
      // A wide one scrolls, with the keyboard too.
      return h('div', {
        class: 'diagram',
        style: { '--natural': `${width}px` },
        tabindex: 0,
        innerHTML: svg.value,
      })
    }
  },
})
