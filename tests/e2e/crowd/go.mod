module karmada-policy-exporter/tests/e2e/crowd

go 1.26
