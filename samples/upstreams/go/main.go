// go run . (Go 1.22 or later; nothing to install)
package main

import (
	"encoding/json"
	"log"
	"net/http"
	"os"
)

func main() {
	assertions := &Assertions{
		JWKSURL:  setting("JWKS_URL", "http://127.0.0.1:9100/.well-known/jwks.json"),
		Issuer:   setting("ISSUER", "postern"),
		Audience: setting("AUDIENCE", "orders"),
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		var asserted any
		caller, err := assertions.Caller(r.Header.Get("X-Postern-Assertion"))
		asserted = caller
		if err != nil {
			asserted = map[string]string{"refused": err.Error()}
			w.WriteHeader(http.StatusUnauthorized)
		}
		json.NewEncoder(w).Encode(map[string]any{
			"asserted": asserted,
			"headers":  CallerFromHeaders(r.Header),
		})
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+setting("PORT", "8080"), http.HandlerFunc(handler)))
}

func setting(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
