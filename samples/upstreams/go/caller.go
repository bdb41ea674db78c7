package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math/big"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Caller is who calls, whichever of the two ways below told it.
type Caller struct {
	UserID    string `json:"userId"`
	RoleKey   string `json:"roleKey"`
	RoleID    string `json:"roleId"`
	DataScope string `json:"dataScope"`
	Name      string `json:"name"`
}

// CallerFromHeaders is way 1, where only Postern can reach this service. On a route with
// access: public there is no caller, and none of the headers.
func CallerFromHeaders(h http.Header) *Caller {
	if h.Get("X-User-Id") == "" {
		return nil
	}
	read := func(name string) string {
		value, err := url.PathUnescape(h.Get(name)) // not QueryUnescape: + stays +
		if err != nil {
			return ""
		}
		return value
	}
	return &Caller{
		UserID:    read("X-User-Id"),
		RoleKey:   read("X-Role-Key"),
		RoleID:    read("X-Role-Id"),
		DataScope: read("X-Data-Scope"),
		Name:      read("X-User-Name"),
	}
}

// Assertions is way 2, anywhere: verify X-Postern-Assertion and take nothing from other headers.
type Assertions struct {
	JWKSURL, Issuer, Audience string

	mu      sync.Mutex
	keys    map[string]jwk
	askedAt time.Time
}

type jwk struct {
	Kid, Alg, Crv, X, Y, N, E string
}

// Caller verifies an assertion and says who it is about.
func (a *Assertions) Caller(assertion string) (*Caller, error) {
	parts := strings.Split(assertion, ".")
	if len(parts) != 3 {
		return nil, errors.New("no assertion")
	}
	var header struct{ Typ, Alg, Kid string }
	if err := decode(parts[0], &header); err != nil || header.Typ != "postern-assertion+jwt" {
		return nil, errors.New("no assertion")
	}
	key, err := a.find(header.Kid)
	if err != nil {
		return nil, err
	}
	// The key decides how it is used; what the assertion says can only agree.
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || header.Alg != key.Alg || !key.verifies(parts[0]+"."+parts[1], signature) {
		return nil, errors.New("wrong signature")
	}

	var claims struct {
		Iss, Aud, Sub, Name string
		Exp                 int64
		RoleKey             string `json:"role_key"`
		RoleID              string `json:"role_id"`
		DataScope           string `json:"data_scope"`
	}
	if err := decode(parts[1], &claims); err != nil {
		return nil, err
	}
	if claims.Iss != a.Issuer || claims.Aud != a.Audience {
		return nil, errors.New("not for us")
	}
	if time.Now().Unix() > claims.Exp+5 {
		return nil, errors.New("expired")
	}
	return &Caller{claims.Sub, claims.RoleKey, claims.RoleID, claims.DataScope, claims.Name}, nil
}

func (k jwk) verifies(signed string, signature []byte) bool {
	digest := sha256.Sum256([]byte(signed))
	switch k.Alg {
	case "ES256":
		key := ecdsa.PublicKey{Curve: elliptic.P256(), X: number(k.X), Y: number(k.Y)}
		if len(signature) != 64 {
			return false
		}
		r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
		return ecdsa.Verify(&key, digest[:], r, s)
	case "EdDSA":
		key := bytesOf(k.X)
		return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, []byte(signed), signature)
	case "RS256":
		key := rsa.PublicKey{N: number(k.N), E: int(number(k.E).Int64())}
		return rsa.VerifyPKCS1v15(&key, crypto.SHA256, digest[:], signature) == nil
	}
	return false
}

// find asks again for a kid that it does not know: keys are rotated. Not more often than every 10 s.
func (a *Assertions) find(kid string) (jwk, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, known := a.keys[kid]; !known && time.Since(a.askedAt) > 10*time.Second {
		a.askedAt = time.Now()
		client := http.Client{Timeout: 3 * time.Second}
		answer, err := client.Get(a.JWKSURL)
		if err != nil {
			return jwk{}, err
		}
		defer answer.Body.Close()
		var set struct{ Keys []jwk }
		if err := json.NewDecoder(answer.Body).Decode(&set); err != nil {
			return jwk{}, err
		}
		a.keys = map[string]jwk{}
		for _, key := range set.Keys {
			a.keys[key.Kid] = key
		}
	}
	if key, known := a.keys[kid]; known {
		return key, nil
	}
	return jwk{}, errors.New("unknown key")
}

func decode(part string, into any) error {
	bytes, err := base64.RawURLEncoding.DecodeString(part)
	if err != nil {
		return err
	}
	return json.Unmarshal(bytes, into)
}

func bytesOf(part string) []byte {
	bytes, _ := base64.RawURLEncoding.DecodeString(part)
	return bytes
}

func number(part string) *big.Int { return new(big.Int).SetBytes(bytesOf(part)) }
