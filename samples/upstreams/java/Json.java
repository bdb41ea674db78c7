import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** As much JSON as an assertion and a key set need; the JDK has none. Use Jackson if you have it. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** The members of an object. Throws for anything else, and for what follows it. */
    @SuppressWarnings("unchecked")
    static Map<String, Object> object(String text) {
        Json json = new Json(text);
        Object value = json.value();
        json.space();
        if (json.at != text.length() || !(value instanceof Map)) throw json.wrong();
        return (Map<String, Object>) value;
    }

    static String quoted(String text) {
        StringBuilder out = new StringBuilder("\"");
        for (char each : text.toCharArray()) {
            if (each < ' ' || each == '"' || each == '\\') out.append(String.format("\\u%04x", (int) each));
            else out.append(each);
        }
        return out.append('"').toString();
    }

    private Object value() {
        space();
        if (at >= text.length()) throw wrong();
        char first = text.charAt(at);
        if (first == '{') return members();
        if (first == '[') return items();
        if (first == '"') return string();
        for (String word : new String[] {"true", "false", "null"}) {
            if (!text.startsWith(word, at)) continue;
            at += word.length();
            return word.equals("null") ? null : Boolean.valueOf(word);
        }
        int start = at;
        while (at < text.length() && "+-.0123456789eE".indexOf(text.charAt(at)) >= 0) at++;
        return Double.valueOf(text.substring(start, at));
    }

    private Map<String, Object> members() {
        Map<String, Object> members = new LinkedHashMap<>();
        take('{');
        if (peek('}')) return members;
        do {
            space();
            String name = string();
            take(':');
            // Two members of one name are two readings of one text.
            if (members.containsKey(name)) throw wrong();
            members.put(name, value());
        } while (peek(','));
        at--;
        take('}');
        return members;
    }

    private List<Object> items() {
        List<Object> items = new ArrayList<>();
        take('[');
        if (peek(']')) return items;
        do items.add(value());
        while (peek(','));
        at--;
        take(']');
        return items;
    }

    private String string() {
        StringBuilder out = new StringBuilder();
        take('"');
        for (char each = next(); each != '"'; each = next()) out.append(each == '\\' ? escape() : each);
        return out.toString();
    }

    private char escape() {
        char kind = next();
        int plain = "\"\\/bfnrt".indexOf(kind);
        if (plain >= 0) return "\"\\/\b\f\n\r\t".charAt(plain);
        if (kind != 'u' || at + 4 > text.length()) throw wrong();
        at += 4;
        return (char) Integer.parseInt(text.substring(at - 4, at), 16);
    }

    private char next() {
        if (at >= text.length()) throw wrong();
        return text.charAt(at++);
    }

    private void take(char wanted) {
        space();
        if (next() != wanted) throw wrong();
    }

    /** Takes the next character, whatever it is, and says whether it is this one. */
    private boolean peek(char wanted) {
        space();
        if (next() == wanted) return true;
        if (wanted != ',') at--;
        return false;
    }

    private void space() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
    }

    private IllegalArgumentException wrong() {
        return new IllegalArgumentException("no JSON");
    }
}
